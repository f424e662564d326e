// Syntax of old Node versions only: they must print the sentence below instead of failing with a syntax error.
const NEEDED = { major: 20, minor: 19 };

/** Prints an error and sets the exit code if this Node is too old. @returns {boolean} whether it is new enough */
export function nodeWillDo() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > NEEDED.major || (major === NEEDED.major && minor >= NEEDED.minor)) return true;
  console.error(
    'Countersign needs Node ' + NEEDED.major + '.' + NEEDED.minor + ' or newer; this is ' + process.version,
  );
  process.exitCode = 1;
  return false;
}
