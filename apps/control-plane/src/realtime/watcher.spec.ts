import type { SessionStatus } from '@countersign/session';
import { describe, expect, it } from 'vitest';
import type { SessionView } from './session-view.js';
import { isNews, Watcher, type Tidings } from './watcher.js';

/** What a connection was told. */
class Ear {
  readonly heard: string[] = [];
  send(frame: string | Buffer): void {
    this.heard.push(String(frame));
  }
}

const tidings = (name: string, ends: SessionStatus | null = null): Tidings => ({
  ends,
  inView: (view) => (name === 'private' && view === 'reduced' ? null : Buffer.from(`${name} ${view}`)),
});

function listening(view: SessionView = 'full'): { ear: Ear; watcher: Watcher } {
  const ear = new Ear();
  return { ear, watcher: new Watcher(ear, view) };
}

describe('an end of a session', () => {
  it.each([
    [null, 'approved', true],
    ['pending', 'approved', true],
    ['pending', 'expired', true],
    ['pending', null, true],
    ['approved', 'approved', false],
    ['approved', null, true],
    ['expired', 'expired', false],
    ['expired', 'approved', true],
    ['expired', 'denied', true],
    ['cancelled', 'cancelled', false],
  ] as const)('to who was shown %s: %s is news: %s', (shown, ends, news) => {
    expect(isNews(shown, ends)).toBe(news);
  });
});

describe('a watcher', () => {
  it('hears what came before its snapshot after it', () => {
    const { ear, watcher } = listening();
    watcher.tell(tidings('updated'));
    watcher.tell(tidings('completed', 'approved'));
    expect(ear.heard).toEqual([]);
    watcher.join('snapshot', 'pending');
    expect(ear.heard).toEqual(['snapshot', 'updated full', 'completed full']);
  });

  it('does not hear again what its snapshot shows', () => {
    const { ear, watcher } = listening();
    watcher.tell(tidings('completed', 'approved'));
    watcher.join('snapshot', 'approved');
    expect(ear.heard).toEqual(['snapshot']);
  });

  it('hears of an end once, however often it is told', () => {
    const { ear, watcher } = listening();
    watcher.join('snapshot', 'pending');
    watcher.tell(tidings('completed', 'approved'));
    watcher.tell(tidings('completed', 'approved'));
    expect(ear.heard).toEqual(['snapshot', 'completed full']);
  });

  it('hears of an approval that was in time although the session read as expired', () => {
    const { ear, watcher } = listening();
    watcher.join('snapshot', 'expired');
    watcher.tell(tidings('expired', 'expired'));
    watcher.tell(tidings('completed', 'approved'));
    expect(ear.heard).toEqual(['snapshot', 'completed full']);
  });

  it('hears only what its view has a part in', () => {
    const { ear, watcher } = listening('reduced');
    watcher.join('snapshot', 'pending');
    watcher.tell(tidings('private'));
    watcher.tell(tidings('completed', 'approved'));
    expect(ear.heard).toEqual(['snapshot', 'completed reduced']);
  });
});
