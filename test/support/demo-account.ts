import { parseId } from '@countersign/ids';
import { AdminCalls, dataOf } from './admin-calls.js';
import type { Answer, Call, ControlPlaneHarness } from './control-plane-harness.js';

/** The account of the demo, as an attacker would change it. */
export class DemoAccount {
  private readonly root: AdminCalls;

  constructor(private readonly harness: ControlPlaneHarness) {
    this.root = new AdminCalls(harness);
  }

  /** The calls that change something in it, with a body that they accept, and their names in the description. */
  changes(keyId: string): readonly (readonly [name: string, path: string, call: Call])[] {
    const { brandId } = this.harness.demo;
    return [
      ['POST /v1/account/keys', 'v1/account/keys', { method: 'POST', body: { name: 'ci' } }],
      ['POST /v1/account/keys/{id}/rotate', `v1/account/keys/${keyId}/rotate`, { method: 'POST' }],
      [
        'PATCH /v1/account/webhook',
        'v1/account/webhook',
        { method: 'PATCH', body: { defaultWebhookUrl: 'https://thief.example/hook' } },
      ],
      ['POST /v1/account/webhook/secret/rotate', 'v1/account/webhook/secret/rotate', { method: 'POST' }],
      ['POST /v1/webhooks/secret/rotate', 'v1/webhooks/secret/rotate', { method: 'POST' }],
      [
        'PATCH /v1/account/brands/{id}',
        `v1/account/brands/${brandId}`,
        { method: 'PATCH', body: { instruction: 'Send this to a thief.' } },
      ],
    ];
  }

  newKey(changed: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
    return this.root.post('keys', { accountId: this.harness.demo.accountId, name: 'backend', ...changed });
  }

  /** Its live keys, webhook and brand, to compare. */
  async state(): Promise<unknown> {
    const { accountId, brandId } = this.harness.demo;
    const keys = dataOf(await this.root.get(`keys?accountId=${accountId}&limit=100`));
    const secrets = await this.harness.database.query('SELECT webhook_secret_sealed FROM accounts WHERE id = $1', [
      parseId('acct', accountId),
    ]);
    const shown = keys.map(({ id, prefix, scopes, kind }) => ({ id, prefix, scopes, kind }));
    const account = (await this.root.get(`accounts/${accountId}`)).json;
    return { shown, secrets, account, brand: (await this.root.get(`brands/${brandId}`)).json };
  }
}
