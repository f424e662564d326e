import type { Tone } from '../ui/layout.js';

const TONES: Readonly<Record<string, Tone>> = {
  pending: 'accent',
  succeeded: 'good',
  failed: 'bad',
  blocked: 'warn',
};

/** A delivery that waits for another attempt is a warning; one that waits for its first is not. */
export const deliveryTone = (status: string, attempts: number): Tone =>
  status === 'pending' && attempts > 0 ? 'warn' : (TONES[status] ?? 'quiet');

/** Whether the receiver answered with a status of success. */
export const isAccepted = ({ status }: { readonly status: number | null }): boolean =>
  status !== null && status >= 200 && status < 300;
