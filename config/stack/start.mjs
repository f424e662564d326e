#!/usr/bin/env node
// `npm start`: everything, on a machine that has nothing but Node.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major > 20 || (major === 20 && minor >= 19)) {
  // Loaded only now, so that an older Node meets this sentence and not a syntax it does not know.
  import('./launch.mjs').then(({ launch }) => launch());
} else {
  console.error('Countersign needs Node 20.19 or newer; this is ' + process.version);
  process.exitCode = 1;
}
