import type { WebSocketAdapter } from '@nestjs/common';
import type { ClientFrame } from './client-frame.js';
import type { FrameHandler, RealtimeConnection } from './realtime-connection.js';
import type { UpgradeHandler } from './upgrade.handler.js';

/** A handler of the gateway, bound to its connection. */
interface BoundHandler {
  readonly message: string;
  /** Gives a promise. */
  readonly callback: (frame: ClientFrame) => unknown;
}

/**
 * Nest's gateway on our connections. Nest's own adapter for `ws` upgrades before anybody was asked, drops what it cannot
 * read, lets answers overtake each other and sends without end to who does not read.
 */
export class RealtimeAdapter implements WebSocketAdapter<UpgradeHandler, RealtimeConnection> {
  constructor(private readonly upgrades: UpgradeHandler) {}

  create(): UpgradeHandler {
    return this.upgrades;
  }

  bindClientConnect(upgrades: UpgradeHandler, hear: (connection: RealtimeConnection) => void): void {
    upgrades.onConnection(hear);
  }

  bindClientDisconnect(connection: RealtimeConnection, hear: (code: number) => void): void {
    connection.onClose(hear);
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

  /** The door is closed in its own step of the shutdown, long before. */
  close(): void {
    return undefined;
  }

  dispose(): void {
    return undefined;
  }
}
