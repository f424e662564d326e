import { STATUS, type Pdu } from '@countersign/smpp/pdu';

/** Statuses that ask for a lower rate, whatever the outcome of the message (SMPP 3.4, 5.1.3). */
const THROTTLES: ReadonlySet<number> = new Set([STATUS.ESME_RTHROTTLED, STATUS.ESME_RMSGQFUL]);

/** Whether a response asks for a lower rate. */
export const isThrottle = ({ status }: Pick<Pdu, 'status'>): boolean => THROTTLES.has(status);
