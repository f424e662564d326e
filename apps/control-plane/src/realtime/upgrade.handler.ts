import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { WebSocketServer } from 'ws';
import { refusedBy } from '../http/error-answers.js';
import { ERRORS } from '../http/errors.js';
import { RawResponses } from '../http/raw-responses.js';
import { RequestAuthorizer, type UpgradeVerdict } from '../http/request.authorizer.js';
import { RequestIds } from '../http/request-ids.js';
import type { ErrorLog } from '../operations/answered-request.js';
import { FailureLog } from '../operations/failure-log.js';
import { isConsoleHandshake, judgeHandshake, REALTIME_PATH, SUBPROTOCOL } from './handshake.js';
import { RealtimeConnections } from './realtime-connections.js';

const WEBSOCKETS = {
  noServer: true,
  /** Contract, Realtime: a frame has 16 KiB. */
  maxPayload: 16 * 1024,
  /** Browsers send a message in one frame; each fragment costs as much as a message. */
  maxFragments: 16,
  /** Frames that are sent octet by octet would be buffered as that many objects. */
  maxBufferedChunks: 1_024,
  perMessageDeflate: false,
  /** A client that sends pings without reading the pongs is closed. */
  maxPendingAutoPongs: 16,
  /** Wait for the answer to a close frame, also from a slow reader, in ms. */
  closeTimeout: 15_000,
  handleProtocols: (): string => SUBPROTOCOL,
} as const;

/**
 * Handles WebSocket upgrades: each is authorized like any request before the handshake. Refusals are responses of the
 * HTTP API; an admitted upgrade becomes a connection.
 */
@Injectable()
export class UpgradeHandler {
  readonly #webSockets = new WebSocketServer(WEBSOCKETS);
  /** Further headers of the responses to pending upgrades. */
  readonly #headers = new WeakMap<IncomingMessage, readonly string[]>();

  constructor(
    private readonly authorizer: RequestAuthorizer,
    private readonly responses: RawResponses,
    private readonly connections: RealtimeConnections,
    private readonly requestIds: RequestIds,
    @Inject(FailureLog) private readonly log: ErrorLog,
  ) {
    this.#webSockets.on('headers', (headers, request) => headers.push(...(this.#headers.get(request) ?? [])));
  }

  /** Handles an `upgrade` event of the server. Never rejects. */
  handle(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => undefined);
    void this.admit(request, socket, head);
  }

  private async admit(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const id = this.requestIds.next();
    const verdict = this.applyLimits(await this.authorize(request, id));
    if (verdict.refused !== null) {
      const { refused, clientAddress, limitHeaders } = verdict;
      this.responses.refuse(socket, refused, id, limitHeaders ?? (await this.responses.limitsOf(clientAddress)));
      return;
    }
    // No await between the limit check and the increment, so concurrent upgrades cannot exceed the limit.
    if (socket.destroyed) return;
    const fixed = {
      'X-Request-Id': id,
      'Cache-Control': 'no-store',
      ...this.responses.securityHeaders,
      ...verdict.limitHeaders,
    };
    this.#headers.set(
      request,
      Object.entries(fixed).map(([name, value]) => `${name}: ${value}`),
    );
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => this.connections.add(webSocket, verdict));
  }

  private async authorize(request: IncomingMessage, id: string): Promise<UpgradeVerdict> {
    try {
      return await this.authorizer.authorizeUpgrade(request, {
        wrong: judgeHandshake(request),
        byCookie: isConsoleHandshake(request),
      });
    } catch (error) {
      const refused = refusedBy(error);
      if (ERRORS[refused.refusal.code].status >= 500) {
        this.log.failed(error, { id, method: 'GET', route: REALTIME_PATH });
      }
      return { refused, clientAddress: request.socket.remoteAddress ?? '', limitHeaders: null };
    }
  }

  private applyLimits(verdict: UpgradeVerdict): UpgradeVerdict {
    const refused = verdict.refused === null ? this.connections.refusalOf(verdict.caller) : null;
    return refused === null ? verdict : { ...verdict, refused };
  }
}
