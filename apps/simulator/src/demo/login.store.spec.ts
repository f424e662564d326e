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
    const store = new LoginStore(2);
    expect(store.add(login('a'), NOW)).toBe(true);
    expect(store.find('a')?.sessionId).toBe('sess_a');
    expect(store.findBySession('sess_a')?.id).toBe('a');
    expect(store.findBySession('sess_b')).toBeNull();
  });

  it('takes no more than it has room for while all may still be answered', () => {
    const store = new LoginStore(2);
    expect(['a', 'b', 'c'].map((name) => store.add(login(name), NOW))).toEqual([true, true, false]);
    expect(store.hasRoom(NOW)).toBe(false);
    expect(store.size).toBe(2);
  });

  it('removes ended logins when it is full', () => {
    const store = new LoginStore(2);
    store.add(login('a'), NOW);
    store.add(login('b'), NOW);
    store.change('a', (before) => decide(before, 'denied'));
    expect(store.add(login('c'), NOW)).toBe(true);
    expect([store.find('a'), store.findBySession('sess_a'), store.find('b')?.id]).toEqual([null, null, 'b']);
  });

  it('forgets a login some minutes after its end', () => {
    const store = new LoginStore(1);
    store.add(login('a'), NOW);
    expect(store.hasRoom(NOW + 10 * 60_000)).toBe(true);
    expect(store.size).toBe(0);
  });

  it('emits every change, and nothing for an event without a change', () => {
    const store = new LoginStore(1);
    const heard: string[] = [];
    store.changes.subscribe(({ phase }) => heard.push(phase));
    store.add(login('a'), NOW);
    store.change('a', (before) => before);
    store.change('a', (before) => decide(before, 'approved'));
    expect(store.change('b', (before) => decide(before, 'approved'))).toBeNull();
    expect(heard).toEqual(['approved']);
  });
});
