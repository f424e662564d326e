#!/usr/bin/env node
// `npm test`: installs and builds what is missing, runs every kind of test, and prints the count last.
// `npm test -- small e2e` runs only those kinds.
import { nodeWillDo } from './node-version.mjs';

if (nodeWillDo()) import('./tests.mjs').then(({ runTests }) => runTests(process.argv.slice(2)));
