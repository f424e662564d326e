import { describe, expect, it } from 'vitest';
import { decide, type Login, openLogin } from './login.js';
import { LoginStore } from './login.store.js';

const NOW = Date.parse('2026-01-01T00:00:00.000Z');

const login = (name: string): Login =>
  openLogin(
    name,
    {
      id: `sess_${name}`,
      status: 'pending',
      channel: 'sms_fallback',
      fallbackUri: 'sms:+14155550199?body=AUTH',
      phone: '+14155552671',
      expiresAt: '2026-01-01T00:01:30.000Z',
    },
    NOW,
  );

describe('the book of logins', () => {
  it('finds a login by its own id and by its session', () => {
    const book = new LoginStore(2);
    expect(book.add(login('a'), NOW)).toBe(true);
    expect(book.find('a')?.sessionId).toBe('sess_a');
    expect(book.findBySession('sess_a')?.id).toBe('a');
    expect(book.findBySession('sess_b')).toBeNull();
  });

  it('takes no more than it has room for while all may still be answered', () => {
    const book = new LoginStore(2);
    expect(['a', 'b', 'c'].map((name) => book.add(login(name), NOW))).toEqual([true, true, false]);
    expect(book.hasRoom(NOW)).toBe(false);
    expect(book.size).toBe(2);
  });

  it('lets those that are over go when it is full', () => {
    const book = new LoginStore(2);
    book.add(login('a'), NOW);
    book.add(login('b'), NOW);
    book.change('a', (before) => decide(before, 'denied'));
    expect(book.add(login('c'), NOW)).toBe(true);
    expect([book.find('a'), book.findBySession('sess_a'), book.find('b')?.id]).toEqual([null, null, 'b']);
  });

  it('forgets a login some minutes after its end', () => {
    const book = new LoginStore(1);
    book.add(login('a'), NOW);
    expect(book.hasRoom(NOW + 10 * 60_000)).toBe(true);
    expect(book.size).toBe(0);
  });

  it('tells of every change, and of nothing that changed nothing', () => {
    const book = new LoginStore(1);
    const heard: string[] = [];
    book.changes.subscribe(({ phase }) => heard.push(phase));
    book.add(login('a'), NOW);
    book.change('a', (before) => before);
    book.change('a', (before) => decide(before, 'approved'));
    expect(book.change('b', (before) => decide(before, 'approved'))).toBeNull();
    expect(heard).toEqual(['approved']);
  });
});
