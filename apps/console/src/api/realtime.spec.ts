import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Realtime } from './realtime.js';

/** A socket that the test plays the server of. */
class PlayedSocket {
  readonly sent: Record<string, unknown>[] = [];
  isClosed = false;
  onopen: WebSocket['onopen'] = null;
  onmessage: WebSocket['onmessage'] = null;
  onclose: WebSocket['onclose'] = null;

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }

  close(): void {
    this.closes(1000);
  }

  opens(): void {
    Reflect.apply(this.onopen ?? (() => undefined), this, [new Event('open')]);
  }

  says(frame: unknown): void {
    const data = typeof frame === 'string' ? frame : JSON.stringify(frame);
    Reflect.apply(this.onmessage ?? (() => undefined), this, [{ data }]);
  }

  closes(code: number): void {
    this.isClosed = true;
    Reflect.apply(this.onclose ?? (() => undefined), this, [{ code }]);
  }
}

const listener = () => ({ onSnapshot: vi.fn(), onEvent: vi.fn() });

describe('the realtime connection of the console', () => {
  const sockets: PlayedSocket[] = [];
  const onRefused = vi.fn();
  let realtime: Realtime;

  const last = (): PlayedSocket => {
    const socket = sockets.at(-1);
    if (socket === undefined) throw new Error('no socket was opened');
    return socket;
  };
  /** Subscribed, with a snapshot. */
  const live = (): PlayedSocket => {
    last().opens();
    last().says({ type: 'subscribed', channel: 'binds', snapshot: [] });
    return last();
  };

  beforeEach(() => {
    vi.useFakeTimers();
    sockets.length = 0;
    onRefused.mockClear();
    realtime = new Realtime({
      open: () => {
        const socket = new PlayedSocket();
        sockets.push(socket);
        return socket;
      },
      onRefused,
      random: () => 1,
    });
  });
  afterEach(() => vi.useRealTimers());

  it('subscribes, and gives snapshots and events to the listeners of a channel', () => {
    const binds = listener();
    realtime.subscribe('binds', binds);
    expect(realtime.isLive('binds')).toBe(false);
    const socket = live();
    expect(socket.sent).toEqual([{ type: 'subscribe', channel: 'binds', id: 1 }]);
    expect(realtime.isLive('binds')).toBe(true);
    socket.says({ type: 'event', channel: 'binds', event: 'bind.updated', data: { id: 'bind_1' } });
    socket.says({ type: 'event', channel: 'others', event: 'bind.updated', data: {} });
    expect(binds.onSnapshot.mock.calls).toEqual([[[]]]);
    expect(binds.onEvent.mock.calls).toEqual([['bind.updated', { id: 'bind_1' }]]);
  });

  it('survives frames that are none', () => {
    realtime.subscribe('binds', listener());
    const socket = live();
    for (const frame of ['{', '1', 'null', '[]', { type: 7, channel: {} }]) socket.says(frame);
    expect(realtime.isLive('binds')).toBe(true);
  });

  it('reconnects with growing waits, and is not live meanwhile', () => {
    const onChange = vi.fn();
    realtime.watch(onChange);
    realtime.subscribe('binds', listener());
    live().closes(1006);
    expect([realtime.isLive('binds'), onChange.mock.calls.length]).toEqual([false, 2]);
    vi.advanceTimersByTime(999);
    expect(sockets).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(sockets).toHaveLength(2);
    last().closes(1006);
    vi.advanceTimersByTime(1_999);
    expect(sockets).toHaveLength(2);
    vi.advanceTimersByTime(1);
    expect(sockets).toHaveLength(3);
    live().closes(1006);
    vi.advanceTimersByTime(1_000);
    expect(sockets).toHaveLength(4);
  });

  it('waits as long as a server that stops asks', () => {
    realtime.subscribe('binds', listener());
    const socket = live();
    socket.says({ type: 'closing', reconnectAfterMs: 12_000 });
    socket.closes(1001);
    vi.advanceTimersByTime(11_999);
    expect(sockets).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(sockets).toHaveLength(2);
  });

  it('asks for the session when it is refused, or ended by the server', () => {
    realtime.subscribe('binds', listener());
    last().closes(1006);
    expect(onRefused).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1_000);
    live().closes(4401);
    expect(onRefused).toHaveBeenCalledTimes(2);
    vi.advanceTimersByTime(3_000);
    live().closes(1006);
    expect(onRefused).toHaveBeenCalledTimes(2);
  });

  it('closes a connection that does not answer a ping', () => {
    realtime.subscribe('binds', listener());
    const socket = live();
    vi.advanceTimersByTime(20_000);
    expect(socket.sent.at(-1)).toMatchObject({ type: 'ping' });
    socket.says({ type: 'pong' });
    vi.advanceTimersByTime(20_000);
    expect(socket.isClosed).toBe(false);
    vi.advanceTimersByTime(20_000);
    expect(socket.isClosed).toBe(true);
    vi.advanceTimersByTime(1_000);
    expect(sockets).toHaveLength(2);
  });

  it('keeps the connection from one page to the next, and closes it when nobody listens', () => {
    const end = realtime.subscribe('binds', listener());
    const socket = live();
    end();
    expect(realtime.isLive('binds')).toBe(false);
    const endAgain = realtime.subscribe('binds', listener());
    vi.advanceTimersByTime(6_000);
    expect([sockets.length, socket.isClosed]).toEqual([1, false]);
    expect(socket.sent.map(({ type }) => type)).toEqual(['subscribe', 'unsubscribe', 'subscribe']);
    endAgain();
    vi.advanceTimersByTime(6_000);
    expect(socket.isClosed).toBe(true);
    vi.advanceTimersByTime(60_000);
    expect(sockets).toHaveLength(1);
  });
});
