import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';

/** The rights of engineers are read again in the transaction of each change: keys are known by a copy of up to 3 s. */
describe('A39 changes by an admin key that has just ended', () => {
  let harness: ControlPlaneHarness;
  let made = 0;

  beforeAll(async () => {
    harness = await ControlPlaneHarness.open();
  });
  afterAll(() => harness.close());

  const rootKey = (): string => harness.environment['COUNTERSIGN_ADMIN_KEY'] ?? '';
  const call = (method: string, path: string, key: string, body?: unknown): ReturnType<ControlPlaneHarness['call']> =>
    harness.call(`/v1/admin/${path}`, { method, key, ...(body === undefined ? {} : { body }) });

  /** An owner's key that the process knows. */
  async function owner(): Promise<{ readonly id: string; readonly key: string }> {
    const name = `owner-${++made}`;
    const { status, json } = await call('POST', 'admin-keys', rootKey(), { name, role: 'owner' });
    expect(status).toBe(201);
    const [id, key] = [String(json['id']), String(json['key'])];
    expect((await call('GET', 'admin-keys', key)).status).toBe(200);
    return { id, key };
  }

  it('A39 a demoted one does not make itself owner again, and makes no key', async () => {
    const { id, key } = await owner();
    expect((await call('PATCH', `admin-keys/${id}`, rootKey(), { role: 'viewer' })).status).toBe(200);
    expect((await call('PATCH', `admin-keys/${id}`, key, { role: 'owner' })).status).toBe(403);
    expect((await call('POST', 'admin-keys', key, { name: 'heir-1', role: 'owner' })).status).toBe(403);
    expect((await call('GET', `admin-keys/${id}`, rootKey())).json['role']).toBe('viewer');
  });

  it('A39 a revoked one leaves no key and no member', async () => {
    const { id, key } = await owner();
    expect((await call('POST', `admin-keys/${id}/revoke`, rootKey())).status).toBeLessThan(300);
    expect((await call('POST', 'admin-keys', key, { name: 'heir-2', role: 'owner' })).status).toBe(401);
    const member = { name: 'Heir', role: 'owner', phone: '+14155552671' };
    expect((await call('POST', 'members', key, member)).status).toBe(401);
    const listed = await call('GET', 'admin-keys?limit=100', rootKey());
    expect(JSON.stringify(listed.json)).not.toContain('heir-2');
  });

  it('A39 the former text of a rotated one does not rotate it again', async () => {
    const { id, key } = await owner();
    const rotated = await call('POST', `admin-keys/${id}/rotate`, rootKey());
    expect(rotated.status).toBeLessThan(300);
    expect((await call('POST', `admin-keys/${id}/rotate`, key)).status).toBe(401);
    const present = String(rotated.json['key']);
    expect((await call('POST', `admin-keys/${id}/rotate`, present)).status).toBeLessThan(300);
  });
});
