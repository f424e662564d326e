// The roles of a private PostgreSQL: one owns the tables, one is for control planes, one for gateways. None is a superuser.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';

const ROLES = new URL('roles.sql', import.meta.url);
const OWNER = 'countersign_owner';
const APP = 'countersign_app';
export const GATEWAY = 'countersign_gateway';
const TIMEOUT_MS = 30_000;

/**
 * The URL of a database for each role. The passwords are derived from that of the superuser, so that only one password
 * is stored.
 *
 * @param {string} superuserUrl
 * @returns {{ ownerUrl: string, appUrl: string, gatewayUrl: string }}
 */
export function roleUrls(superuserUrl) {
  const urlOf = (role) => {
    const url = new URL(superuserUrl);
    url.username = role;
    url.password = passwordOf(superuserUrl, role);
    return url.href;
  };
  return { ownerUrl: urlOf(OWNER), appUrl: urlOf(APP), gatewayUrl: urlOf(GATEWAY) };
}

const passwordOf = (superuserUrl, role) =>
  createHmac('sha256', decodeURIComponent(new URL(superuserUrl).password))
    .update(role)
    .digest('base64url');

/**
 * Creates missing roles and gives them the database of that URL, with all objects that an earlier release created in
 * it. Idempotent.
 *
 * @param {string} superuserUrl
 */
export async function ensureRoles(superuserUrl) {
  const { Client } = (await import('pg')).default;
  const client = new Client({ connectionString: superuserUrl, query_timeout: TIMEOUT_MS });
  await client.connect();
  try {
    for (const [setting, role] of [
      ['countersign.owner_password', OWNER],
      ['countersign.app_password', APP],
      ['countersign.gateway_password', GATEWAY],
    ]) {
      await client.query('SELECT set_config($1, $2, false)', [setting, passwordOf(superuserUrl, role)]);
    }
    await client.query(readFileSync(ROLES, 'utf8'));
  } finally {
    await client.end();
  }
}
