import { ADMIN_ROLES, type AdminRole } from '@countersign/accounts/admin-keys';
import { describe, expect, it } from 'vitest';
import {
  ADMIN_POLICY,
  ADMIN_RIGHTS,
  hasRight,
  isAdminPermission,
  refusedParameter,
  type AdminRight,
} from './admin-policy.js';

const rows = [...Object.entries(ADMIN_POLICY), ...Object.entries(ADMIN_RIGHTS)] as [string, readonly AdminRole[]][];

describe('the policy of roles', () => {
  it.each(rows)('grants %s to a role and to all above it', (_row, roles) => {
    const from = ADMIN_ROLES.findIndex((role) => roles.includes(role));
    expect(roles).toEqual(ADMIN_ROLES.slice(from));
  });

  it.each<[AdminRight, string]>([
    ['readPersonalData', 'support operator owner'],
    ['searchByPhone', 'support operator owner'],
    ['readRecordedTexts', 'operator owner'],
    ['readCodes', 'owner'],
    ['changeTrust', 'owner'],
  ])('grants the right %s to %s alone', (right, roles) => {
    expect(ADMIN_ROLES.filter((role) => hasRight(role, right)).join(' ')).toBe(roles);
  });

  it.each(['', 'accounts', 'accounts.destroy', 'toString', '__proto__', undefined])('has no permission %s', (text) => {
    expect(isAdminPermission(text)).toBe(false);
  });
});

describe('a restricted parameter', () => {
  const restricted = [
    { name: 'phone', right: 'searchByPhone' },
    { name: 'format', value: 'pcap', right: 'readRecordedTexts' },
  ] as const;

  it.each<[AdminRole, unknown, string | undefined]>([
    ['viewer', {}, undefined],
    ['viewer', undefined, undefined],
    ['viewer', { limit: '5', format: 'json' }, undefined],
    ['viewer', { phone: '' }, 'phone'],
    ['viewer', { phone: ['+1', '+2'] }, 'phone'],
    ['viewer', { format: 'pcap' }, 'format'],
    ['support', { phone: '+1', format: 'json' }, undefined],
    ['support', { format: ['json', 'pcap'] }, 'format'],
    ['operator', { phone: '+1', format: 'pcap' }, undefined],
  ])('%s with %j is refused for %s', (role, query, name) => {
    expect(refusedParameter(role, restricted, query)?.name).toBe(name);
  });
});
