import { areSubmitOptions } from './parse-submit-options.js';
import { NO_OPTIONS, type SubmitOptions } from './submit-options.js';

/** Whether messages with these options may have TLVs, which a peer older than SMPP 3.4 does not know. */
export const needsTlvs = ({ concatenation = 'udh', tlvs = [] }: SubmitOptions): boolean =>
  concatenation !== 'udh' || tlvs.length > 0;

/** Rows are read again every few seconds; each copy is checked once. */
const CHECKED = new WeakMap<object, boolean>();

function isChecked(options: SubmitOptions): boolean {
  const known = CHECKED.get(options);
  if (known !== undefined) return known;
  const right = areSubmitOptions(options);
  CHECKED.set(options, right);
  return right;
}

const isEmpty = (options: SubmitOptions): boolean => Object.keys(options).length === 0;

/**
 * The options of a message: those of its route, then those of the bind or system that it is sent over. A key of the
 * route replaces the whole key of the target. Null when stored options are not legal in this release: sending without
 * them could be wrong.
 */
export function effectiveOptions(target: SubmitOptions, route: SubmitOptions): SubmitOptions | null {
  if (isEmpty(target) && isEmpty(route)) return NO_OPTIONS;
  return isChecked(target) && isChecked(route) ? { ...target, ...route } : null;
}
