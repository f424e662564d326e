import type { KeyDependants } from '@countersign/key-ring';

const OWN_ID = { context: 'id::text', isList: false } as const;

/** Columns and rows of this module that depend on the master key. Parts of long messages expire within minutes. */
export const CARRIER_KEY_DEPENDANTS: KeyDependants = {
  columns: [
    {
      table: 'binds',
      column: 'password_sealed',
      label: 'bind-password',
      isSmall: true,
      gatewaysWrite: false,
      ...OWN_ID,
    },
    {
      table: 'binds',
      column: 'client_key_sealed',
      label: 'bind-client-key',
      isSmall: true,
      gatewaysWrite: false,
      ...OWN_ID,
    },
    {
      table: 'binds',
      column: 'outbind_password_sealed',
      label: 'outbind-password',
      isSmall: true,
      gatewaysWrite: false,
      ...OWN_ID,
    },
    {
      table: 'smpp_systems',
      column: 'outbind_password_sealed',
      label: 'outbind-password',
      isSmall: true,
      gatewaysWrite: false,
      ...OWN_ID,
    },
    {
      table: 'smpp_systems',
      column: 'outbind_client_key_sealed',
      label: 'bind-client-key',
      isSmall: true,
      gatewaysWrite: false,
      ...OWN_ID,
    },
    { table: 'messages', column: 'text_sealed', label: 'message-text', isSmall: false, gatewaysWrite: true, ...OWN_ID },
    {
      table: 'outbound_messages',
      column: 'text_sealed',
      label: 'message-text',
      isSmall: false,
      gatewaysWrite: true,
      ...OWN_ID,
    },
  ],
  rows: [
    {
      name: 'smpp_systems',
      count: `SELECT count(*)::int AS rows, NULL::timestamptz AS "newestAt" FROM smpp_systems
        WHERE digest_version = $1 AND $2::uuid IS NOT NULL`,
      isNeeded: true,
      gatewaysWrite: true,
      livesSeconds: null,
      renewal: 'renewed when the system binds; set the password of a system that does not bind, or delete it',
    },
    {
      name: 'sender_formats',
      count: `SELECT count(*)::int AS rows, NULL::timestamptz AS "newestAt" FROM sender_formats
        WHERE digest_version = $1 AND cardinality(digests) > 0 AND $2::uuid IS NOT NULL`,
      isNeeded: false,
      gatewaysWrite: true,
      livesSeconds: null,
      renewal:
        'expires when the sender format of the link is learned; without this version the link starts learning again',
    },
  ],
};
