import { STATUS, type Pdu } from '@countersign/smpp/pdu';

/** Answers that say "slower", whatever becomes of the message (SMPP 3.4, 5.1.3). */
const THROTTLES: ReadonlySet<number> = new Set([STATUS.ESME_RTHROTTLED, STATUS.ESME_RMSGQFUL]);

/** Whether an answer asks to be sent to more slowly. */
export const isThrottle = ({ status }: Pick<Pdu, 'status'>): boolean => THROTTLES.has(status);
