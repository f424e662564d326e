/** A lease that is not renewed expires after this time, by the database's clock (contract, Admin). */
export const LEASE_SECONDS = 15;

/**
 * The longest time that a lease can have left, with an allowance for corrections of the clock. No gateway writes a lease that
 * ends later: it counts as expired.
 */
const LONGEST_LEASE = `interval '${2 * LEASE_SECONDS} seconds'`;

/** Whether the lease of a row of `bind_connections` has not expired, for any holder; never null. */
export const isUnexpired = (connection: string): string =>
  `(coalesce(${connection}.expires_at, '-infinity') > clock_timestamp()
    AND ${connection}.expires_at < clock_timestamp() + ${LONGEST_LEASE})`;

/** Whether a gateway holds the connection; never null. */
export const isLeased = (connection: string): string =>
  `(${connection}.owner IS NOT NULL AND ${isUnexpired(connection)})`;
