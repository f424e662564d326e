/** The two modes of an account. Rows, secrets and values of test keys are separate from live ones. */
export const MODES = ['live', 'test'] as const;
export type Mode = (typeof MODES)[number];

/**
 * An account in one of its modes. Stores take a tenant instead of an account id, so that rows of the other mode cannot be
 * read or changed by accident: they count as unknown, like rows of another account.
 */
export interface Tenant {
  /** UUID of the account. */
  readonly accountId: string;
  readonly mode: Mode;
}

/** The columns by which a row names its tenant. */
export interface OwnedRow {
  readonly accountId: string;
  /** Whether the row belongs to test mode. */
  readonly test: boolean;
}

export const modeOf = (test: boolean): Mode => (test ? 'test' : 'live');

/** The value of a row's `test` column. */
export const isTestMode = ({ mode }: Pick<Tenant, 'mode'>): boolean => mode === 'test';

export const tenantOf = ({ accountId, test }: OwnedRow): Tenant => ({ accountId, mode: modeOf(test) });

/** Whether a row belongs to this account in this mode. */
export const ownsRow = (tenant: Tenant, row: OwnedRow): boolean =>
  row.accountId === tenant.accountId && row.test === isTestMode(tenant);

/** A map and cache key of a tenant; `parseTenantKey` parses it. */
export const tenantKey = ({ accountId, mode }: Tenant): string => `${mode} ${accountId}`;

/** Throws RangeError for a text that is not from `tenantKey`. */
export function parseTenantKey(key: string): Tenant {
  const [mode, accountId] = key.split(' ');
  if ((mode !== 'live' && mode !== 'test') || accountId === undefined) throw new RangeError('not the key of a tenant');
  return { accountId, mode };
}
