#!/usr/bin/env node
// `npm start`: everything, on a machine that has nothing but Node.
import { nodeWillDo } from './node-version.mjs';

if (nodeWillDo()) import('./launch.mjs').then(({ launch }) => launch());
