#!/usr/bin/env node
// `npm start`: starts everything on a machine that has only Node.
import { nodeWillDo } from './node-version.mjs';

if (nodeWillDo()) import('./launch.mjs').then(({ launch }) => launch());
