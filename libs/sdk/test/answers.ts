/** Responses of the service, for the tests of this package. */
export const PENDING = {
  id: 'sess_01HF7YAT000000000000000001',
  status: 'pending',
  channel: 'sms_fallback',
  fallbackUri: 'sms:+14155550199?body=AUTH-ACME-7Q2M9XK4T1V8C3ZB%0ASend%20this.',
  phone: '+14155552671',
  accountId: 'acct_01HF7YAT000000000000000002',
  brandId: 'brd_01HF7YAT000000000000000003',
  brandSlug: 'ACME',
  clientChallenge: 'ab'.repeat(32),
  latencyMs: null,
  approvedAt: null,
  expiresAt: '2023-11-14T22:14:50.007Z',
  createdAt: '2023-11-14T22:13:20.007Z',
  metadata: { orderId: '7' },
};
export const APPROVED = {
  ...PENDING,
  status: 'approved',
  latencyMs: 4_314,
  approvedAt: '2023-11-14T22:13:24.321Z',
  authEntropy: '3f1c9ab2'.repeat(8),
};
export const CREATE = {
  phone: PENDING.phone,
  accountId: PENDING.accountId,
  brandId: PENDING.brandId,
  clientChallenge: PENDING.clientChallenge,
  metadata: { orderId: '7' },
};
export const USAGE = {
  period: { from: '2026-11-01T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' },
  verifications: { total: 3, approved: 1, expired: 1, denied: 0 },
  channels: { rcs: 1, sms_fallback: 2 },
  estimatedCostUsd: '0.0237',
};
export const DELIVERY = {
  id: 'dlv_01HF7YAT000000000000000004',
  eventId: 'evt_01HF7YAT000000000000000009',
  type: 'verification.completed',
  sessionId: PENDING.id,
  url: 'https://example.com/hook',
  status: 'failed',
  attempts: [{ at: '2026-11-21T00:00:00.000Z', status: 500, latencyMs: 12 }],
  nextAttemptAt: null,
  body: { type: 'verification.completed' },
};
