import type { AdminRole } from '@countersign/accounts/admin-keys';
import type { Answer, ControlPlaneHarness } from './control-plane-harness.js';

/** One row of the audit log. */
export interface Noted {
  readonly actor: string;
  readonly action: string;
  readonly resource: string;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly requestId: string;
}

/** Calls `/v1/admin` as an engineer, with the environment's key unless another is given. */
export class AdminCalls {
  constructor(
    private readonly harness: ControlPlaneHarness,
    private readonly ownKey?: string,
  ) {}

  get key(): string {
    return this.ownKey ?? this.harness.environment['COUNTERSIGN_ADMIN_KEY'] ?? '';
  }

  /** Another engineer with a new key of that role. */
  async colleague(role: AdminRole, name: string = role): Promise<AdminCalls> {
    const { json } = await this.post('admin-keys', { name, role });
    return new AdminCalls(this.harness, String(json['key']));
  }

  get(path: string): Promise<Answer> {
    return this.harness.call(`/v1/admin/${path}`, { key: this.key });
  }

  post(path: string, body?: unknown): Promise<Answer> {
    return this.harness.call(`/v1/admin/${path}`, { method: 'POST', key: this.key, body });
  }

  patch(path: string, body: unknown): Promise<Answer> {
    return this.harness.call(`/v1/admin/${path}`, { method: 'PATCH', key: this.key, body });
  }

  delete(path: string): Promise<Answer> {
    return this.harness.call(`/v1/admin/${path}`, { method: 'DELETE', key: this.key });
  }

  /** The audit log's entries about a resource, oldest first. */
  async notes(resourceId: unknown): Promise<Noted[]> {
    return this.harness.database.query<Noted>(
      `SELECT actor, action, resource, before, after, request_id AS "requestId" FROM audit_entries
       WHERE resource_id = $1 ORDER BY id`,
      [resourceId],
    );
  }

  /** The whole audit log as text, to search for values that must not be in it. */
  async log(): Promise<string> {
    return JSON.stringify(await this.harness.database.query('SELECT * FROM audit_entries'));
  }
}

export const dataOf = (answer: Answer): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(answer.json['data']) ? (answer.json['data'] as Readonly<Record<string, unknown>>[]) : [];

export const idOf = (answer: Answer): string => String(answer.json['id']);
