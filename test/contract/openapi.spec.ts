import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneRoom } from '../support/control-plane-room.js';

let room: ControlPlaneRoom;

beforeAll(async () => {
  room = await ControlPlaneRoom.open();
});
afterAll(() => room.close());

const REDOCLY = [
  'node_modules/@redocly/cli/bin/cli.js',
  'lint',
  '--config',
  'config/tooling/redocly.yaml',
  '--format',
  'github-actions',
];

describe('GET /v1/openapi.json', () => {
  it('is public, may be kept for a while and counts towards no quota', async () => {
    const answer = await room.call('/v1/openapi.json', { key: null });
    expect([answer.status, answer.headers['content-type'], answer.headers['cache-control']]).toEqual([
      200,
      'application/json; charset=utf-8',
      'public, max-age=300',
    ]);
    expect(Object.keys(answer.headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
    expect(answer.json).toMatchObject({ openapi: '3.1.0', servers: [{ url: room.baseUrl }] });
  });

  it('passes the linter', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-openapi-'));
    const file = path.join(folder, 'openapi.json');
    writeFileSync(file, (await room.call('/v1/openapi.json', { key: null })).text);
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const { status, stdout } = spawnSync(process.execPath, [...REDOCLY, file], { env, encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect([stdout, status]).toEqual(['', 0]);
  });
});
