import type { SessionStatus } from '@countersign/session/rules';
import { describe, expect, it } from 'vitest';
import type { SessionView } from './session-view.js';
import { isNews, ChannelSubscription, type Rendering } from './channel-subscription.js';

/** What a connection was told. */
class Ear {
  readonly heard: string[] = [];
  send(frame: string | Buffer): void {
    this.heard.push(String(frame));
  }
}

const renderedEvent = (name: string, ends: SessionStatus | null = null): Rendering => ({
  ends,
  inView: (view) => (name === 'private' && view === 'reduced' ? null : Buffer.from(`${name} ${view}`)),
});

function listening(view: SessionView = 'full'): { ear: Ear; subscription: ChannelSubscription } {
  const ear = new Ear();
  return { ear, subscription: new ChannelSubscription(ear, view) };
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
    const { ear, subscription } = listening();
    subscription.tell(renderedEvent('updated'));
    subscription.tell(renderedEvent('completed', 'approved'));
    expect(ear.heard).toEqual([]);
    subscription.join('snapshot', 'pending');
    expect(ear.heard).toEqual(['snapshot', 'updated full', 'completed full']);
  });

  it('hears of an end that came before its snapshot after any number of other events', () => {
    const { ear, subscription } = listening();
    for (let event = 0; event < 100; event += 1) subscription.tell(renderedEvent('updated'));
    subscription.tell(renderedEvent('completed', 'approved'));
    for (let event = 0; event < 100; event += 1) subscription.tell(renderedEvent('updated'));
    subscription.join('snapshot', 'pending');
    expect([ear.heard.length, ear.heard.at(-1)]).toEqual([65, 'completed full']);
  });

  it('does not hear again what its snapshot shows', () => {
    const { ear, subscription } = listening();
    subscription.tell(renderedEvent('completed', 'approved'));
    subscription.join('snapshot', 'approved');
    expect(ear.heard).toEqual(['snapshot']);
  });

  it('hears of an end once, however often it is told', () => {
    const { ear, subscription } = listening();
    subscription.join('snapshot', 'pending');
    subscription.tell(renderedEvent('completed', 'approved'));
    subscription.tell(renderedEvent('completed', 'approved'));
    expect(ear.heard).toEqual(['snapshot', 'completed full']);
  });

  it('hears of an approval that was in time although the session read as expired', () => {
    const { ear, subscription } = listening();
    subscription.join('snapshot', 'expired');
    subscription.tell(renderedEvent('expired', 'expired'));
    subscription.tell(renderedEvent('completed', 'approved'));
    expect(ear.heard).toEqual(['snapshot', 'completed full']);
  });

  it('hears only what its view has a part in', () => {
    const { ear, subscription } = listening('reduced');
    subscription.join('snapshot', 'pending');
    subscription.tell(renderedEvent('private'));
    subscription.tell(renderedEvent('completed', 'approved'));
    expect(ear.heard).toEqual(['snapshot', 'completed reduced']);
  });
});
