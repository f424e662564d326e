#!/usr/bin/env node
// `npm run pictures`: starts everything on a database of its own, and makes the pictures that README and docs show.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from './prepare.mjs';
import { takePictures } from './picture-pages.mjs';
import { stopChild, waitUntil } from './processes.mjs';

const READY_TIMEOUT_MS = 600_000;
const STOP_TIMEOUT_MS = 30_000;
const FOLDER = path.join(ROOT, 'apps/console/pictures');
const PORTS = [
  ...['CONTROL_PLANE_PORT', 'CONTROL_PLANE_OPS_PORT', 'GATEWAY_HTTP_PORT', 'GATEWAY_OPS_PORT'],
  ...['GATEWAY_SMPP_PORT', 'GATEWAY_SMPP_TLS_PORT', 'SIMULATOR_SMPP_PORT', 'SIMULATOR_HTTP_PORT'],
];

/** A port that nobody listens on. */
const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

function chromium() {
  for (const name of [process.env.CHROMIUM, 'chromium', 'chromium-browser', 'google-chrome'].filter(Boolean)) {
    try {
      return execFileSync('/bin/sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' }).trim();
    } catch {
      // The next name.
    }
  }
  throw new Error('there is no chromium on PATH: install it, or set CHROMIUM to its program');
}

async function startStack(dataDir) {
  const ports = Object.fromEntries(await Promise.all(PORTS.map(async (name) => [name, String(await freePort())])));
  const env = { ...process.env, ...ports, COUNTERSIGN_DATA_DIR: dataDir };
  const script = path.join(ROOT, 'config/stack/start.mjs');
  const child = spawn(process.execPath, [script], { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'inherit'] });
  const file = path.join(dataDir, 'quickstart.json');
  const isOver = () => existsSync(file) || child.exitCode !== null;
  if (!(await waitUntil(isOver, READY_TIMEOUT_MS)) || child.exitCode !== null) {
    await stopChild(child, 'SIGTERM', STOP_TIMEOUT_MS);
    throw new Error('the stack did not start: its messages are above');
  }
  return { child, quickstart: JSON.parse(readFileSync(file, 'utf8')) };
}

const program = chromium();
const dataDir = mkdtempSync(path.join(os.tmpdir(), 'countersign-pictures-'));
const { child, quickstart } = await startStack(dataDir);
try {
  mkdirSync(FOLDER, { recursive: true });
  await takePictures({ program, quickstart, folder: FOLDER });
} finally {
  await stopChild(child, 'SIGTERM', STOP_TIMEOUT_MS);
  rmSync(dataDir, { recursive: true, force: true });
}
