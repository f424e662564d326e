import { Injectable, type WebSocketAdapter } from '@nestjs/common';
import type { ClientFrame } from './client-frame.js';
import type { FrameHandler, RealtimeConnection } from './realtime-connection.js';
import { RealtimeConnections } from './realtime-connections.js';

/** A handler of the gateway, bound to its connection. */
interface BoundHandler {
  readonly message: string;
  /** Returns a promise. */
  readonly callback: (frame: ClientFrame) => unknown;
}

/**
 * Runs Nest's gateway on our connections. Nest's own adapter for `ws` upgrades without authorization, ignores
 * unreadable frames, reorders responses and sends to slow readers without limit.
 */
@Injectable()
export class RealtimeAdapter implements WebSocketAdapter<RealtimeConnections, RealtimeConnection> {
  constructor(private readonly connections: RealtimeConnections) {}

  create(): RealtimeConnections {
    return this.connections;
  }

  bindClientConnect(connections: RealtimeConnections, listener: (connection: RealtimeConnection) => void): void {
    connections.onConnection(listener);
  }

  bindClientDisconnect(connection: RealtimeConnection, listener: (code: number) => void): void {
    connection.onClose(listener);
  }

  bindMessageHandlers(connection: RealtimeConnection, handlers: readonly BoundHandler[]): void {
    const handler = ({ message, callback }: BoundHandler): readonly [string, FrameHandler] => [
      message,
      async (frame) => {
        await callback(frame);
      },
    ];
    connection.handleWith(new Map(handlers.map(handler)));
  }

  /** The connections are closed earlier, in their own phase of the shutdown. */
  close(): void {
    return undefined;
  }

  dispose(): void {
    return undefined;
  }
}
