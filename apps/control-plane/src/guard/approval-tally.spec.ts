import { describe, expect, it } from 'vitest';
import { ApprovalTally } from './approval-tally.js';

const at = (time: string): Date => new Date(`2024-05-01T${time}Z`);
const ORIGIN = { accountId: 'a', country: 'US', block: '+1415555' };

describe('the tally of approvals', () => {
  it('counts sends in the slot of the send, phones in the slot of the approval, and sums equal slots', () => {
    const tally = new ApprovalTally();
    tally.addSettledSend({ ...ORIGIN, at: at('11:59:30') });
    tally.addSettledSend({ ...ORIGIN, at: at('12:00:10') });
    tally.addCredit({ accountId: 'a', country: 'US', at: at('12:00:40') });
    tally.addConversion({ ...ORIGIN, at: at('12:00:40') });
    const rows = tally.additions().map(({ scope, slotMs, settled, approvals }) => {
      const slot = new Date(slotMs).toISOString().slice(11, 16);
      return `${scope} ${slot} ${settled} ${approvals}`;
    });
    expect(rows.sort()).toEqual([
      '* 11:59 1 0',
      '* 12:00 1 1',
      '+1415555 11:55 1 0',
      '+1415555 12:00 1 1',
      'US 11:59 1 0',
      'US 12:00 1 1',
      'day 00:00 2 1',
    ]);
  });
});
