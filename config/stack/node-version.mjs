// Plain enough for a Node of long ago, which must meet a sentence here and not a syntax that it does not know.
const NEEDED = { major: 20, minor: 19 };

/** Says so and sets the exit code when this Node is too old. @returns {boolean} whether it will do */
export function nodeWillDo() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > NEEDED.major || (major === NEEDED.major && minor >= NEEDED.minor)) return true;
  console.error(
    'Countersign needs Node ' + NEEDED.major + '.' + NEEDED.minor + ' or newer; this is ' + process.version,
  );
  process.exitCode = 1;
  return false;
}
