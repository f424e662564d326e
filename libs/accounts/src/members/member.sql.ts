/**
 * Serializes changes that could leave no active owner. Not the rows of owners: two changes that each hold one of them
 * would wait for each other.
 */
export const LOCK_MEMBERS = `LOCK TABLE members IN SHARE ROW EXCLUSIVE MODE`;

/** Whether another member is an active owner of the installation. $1 id. */
export const HAS_OTHER_OWNER = `
  SELECT EXISTS (SELECT FROM members WHERE role = 'owner' AND active AND id <> $1) AS found`;

/**
 * The active member of the installation with an OIDC identity. A change of the member that has begun is waited for and judged, and
 * a later one ends the session that the transaction opens. $1 issuer, $2 subject.
 */
export const FIND_BY_IDENTITY = `
  SELECT id FROM members WHERE oidc_issuer = $1 AND oidc_subject = $2 AND account_id IS NULL AND active
  FOR NO KEY UPDATE`;

/**
 * Gives an OIDC identity to the active member of the installation that has this address and no identity yet. $1 issuer,
 * $2 subject, $3 verified address.
 */
export const LINK_IDENTITY = `
  UPDATE members SET oidc_issuer = $1, oidc_subject = $2
  WHERE lower(email) = lower($3) AND oidc_subject IS NULL AND account_id IS NULL AND active RETURNING id`;

/**
 * Whether a member of an account may act now. The row stays so until the end of the transaction; one that is being changed is
 * passed over, since two that hold a row each would wait for each other. $1 id.
 */
export const HOLD_DEVELOPER = `
  SELECT id FROM members WHERE id = $1 AND active AND role = 'developer' AND account_id IS NOT NULL FOR SHARE SKIP LOCKED`;

/** Ends the console sessions of a member, and the sign-ins that have begun. $1 id. */
export const END_SESSIONS_OF_MEMBER = `
  WITH begun AS (DELETE FROM console_sign_ins WHERE member_id = $1)
  DELETE FROM console_sessions WHERE member_id = $1`;
