import { expect, it } from 'vitest';
import { Mailbox } from './mailbox.js';

const sms = (to: string, text: string) => ({ to, from: '72345', text, dataCoding: 0, at: '2026-11-20T00:00:00.000Z' });

it('lists the messages of one phone, oldest first', () => {
  const mailbox = new Mailbox(10);
  for (const [to, text] of [
    ['+1', 'a'],
    ['+2', 'b'],
    ['+1', 'c'],
  ] as const)
    mailbox.add(sms(to, text));
  expect(mailbox.list('+1').map(({ text }) => text)).toEqual(['a', 'c']);
  expect(mailbox.list(' 1').map(({ text }) => text)).toEqual(['a', 'c']);
  expect(mailbox.list(undefined)).toHaveLength(3);
});

it('forgets the oldest beyond its bound', () => {
  const mailbox = new Mailbox(2);
  for (const text of ['a', 'b', 'c']) mailbox.add(sms('+1', text));
  expect(mailbox.list('+1').map(({ text }) => text)).toEqual(['b', 'c']);
});
