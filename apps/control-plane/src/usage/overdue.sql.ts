/**
 * Whether a pending session counts as expired, as in the rest of the API: past `expires_at` when the report began, so that all
 * statements of a report count it in the same way.
 */
export const IS_OVERDUE = `sessions.status = 'pending' AND sessions.expires_at <= transaction_timestamp()`;
