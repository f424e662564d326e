import type { SessionStatus } from '@countersign/session/rules';
import { describe, expect, it } from 'vitest';
import type { SessionView } from './session-view.js';
import { changesShownStatus, ChannelSubscription, type Rendering } from './channel-subscription.js';

/** Records the frames that it was given. */
class RecordingConnection {
  readonly frames: string[] = [];
  send(frame: string | Buffer): void {
    this.frames.push(String(frame));
  }
}

const renderedEvent = (name: string, ends: SessionStatus | null = null): Rendering => ({
  ends,
  inView: (view) => (name === 'private' && view === 'reduced' ? null : Buffer.from(`${name} ${view}`)),
});

function openSubscription(view: SessionView = 'full'): {
  connection: RecordingConnection;
  subscription: ChannelSubscription;
} {
  const connection = new RecordingConnection();
  return { connection, subscription: new ChannelSubscription(connection, view) };
}

describe('a terminal event', () => {
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
  ] as const)('after status %s was shown, %s is sent: %s', (shown, ends, news) => {
    expect(changesShownStatus(shown, ends)).toBe(news);
  });
});

describe('a channel subscription', () => {
  it('sends events received before its snapshot after the snapshot', () => {
    const { connection, subscription } = openSubscription();
    subscription.deliver(renderedEvent('updated'));
    subscription.deliver(renderedEvent('completed', 'approved'));
    expect(connection.frames).toEqual([]);
    subscription.sendSnapshot('snapshot', 'pending');
    expect(connection.frames).toEqual(['snapshot', 'updated full', 'completed full']);
  });

  it('sends a terminal event received before its snapshot after any number of other events', () => {
    const { connection, subscription } = openSubscription();
    for (let event = 0; event < 100; event += 1) subscription.deliver(renderedEvent('updated'));
    subscription.deliver(renderedEvent('completed', 'approved'));
    for (let event = 0; event < 100; event += 1) subscription.deliver(renderedEvent('updated'));
    subscription.sendSnapshot('snapshot', 'pending');
    expect([connection.frames.length, connection.frames.at(-1)]).toEqual([65, 'completed full']);
  });

  it('does not send an end that its snapshot shows', () => {
    const { connection, subscription } = openSubscription();
    subscription.deliver(renderedEvent('completed', 'approved'));
    subscription.sendSnapshot('snapshot', 'approved');
    expect(connection.frames).toEqual(['snapshot']);
  });

  it('sends an end once, however often it is published', () => {
    const { connection, subscription } = openSubscription();
    subscription.sendSnapshot('snapshot', 'pending');
    subscription.deliver(renderedEvent('completed', 'approved'));
    subscription.deliver(renderedEvent('completed', 'approved'));
    expect(connection.frames).toEqual(['snapshot', 'completed full']);
  });

  it('sends an approval after the session was read as expired', () => {
    const { connection, subscription } = openSubscription();
    subscription.sendSnapshot('snapshot', 'expired');
    subscription.deliver(renderedEvent('expired', 'expired'));
    subscription.deliver(renderedEvent('completed', 'approved'));
    expect(connection.frames).toEqual(['snapshot', 'completed full']);
  });

  it('sends only events that its view includes', () => {
    const { connection, subscription } = openSubscription('reduced');
    subscription.sendSnapshot('snapshot', 'pending');
    subscription.deliver(renderedEvent('private'));
    subscription.deliver(renderedEvent('completed', 'approved'));
    expect(connection.frames).toEqual(['snapshot', 'completed reduced']);
  });
});
