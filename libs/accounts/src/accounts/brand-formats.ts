/** The brand's part of the token (contract, Admin). */
export const SLUG = /^[A-Z0-9]{2,12}$/;

/**
 * A sender of SMS: E.164, a short code of 3 to 8 digits, or up to 11 letters and digits with at least one letter (the
 * alphanumeric addresses that carriers accept: 3GPP TS 23.040, 9.1.2.5).
 */
export const SENDER_ID = /^(?:\+[1-9][0-9]{1,14}|[0-9]{3,8}|(?=[0-9]*[A-Za-z])[A-Za-z0-9]{1,11})$/;

/** The id of an RCS agent in RBM, with or without `@rbm.goog`. */
export const RCS_AGENT_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:@rbm\.goog)?$/;

/**
 * A host name with a dot: labels of letters, digits and inner hyphens, the last label not numeric (RFC 1123, 2.1).
 */
export const DOMAIN =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?![0-9]+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
