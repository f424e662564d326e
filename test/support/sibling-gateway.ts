import { GatewaySettings, loadSettings } from '@countersign/settings';
import { createLogger } from '@countersign/telemetry';
import { startGateway } from '../../apps/gateway/src/gateway.js';
import { freePort } from '../../config/stack/postgres.mjs';
import type { GatewayHarness } from './gateway-harness.js';
import { lineTo, type Line } from './line.js';

/** Another gateway in this process on the database of a harness, with its own ports and database proxy. */
export class SiblingGateway {
  private constructor(
    readonly line: Line,
    readonly httpPort: number,
    readonly smppPort: number,
    private readonly end: () => Promise<void>,
  ) {}

  static async start(harness: GatewayHarness, changes: Readonly<Record<string, string>> = {}): Promise<SiblingGateway> {
    const line = await lineTo(harness.harness.gatewayUrl);
    const ports = { smpp: await freePort(), smppTls: await freePort(), http: await freePort(), ops: await freePort() };
    const settings = loadSettings(GatewaySettings, {
      ...harness.environment(),
      DATABASE_URL: line.url,
      GATEWAY_SMPP_PORT: String(ports.smpp),
      GATEWAY_SMPP_TLS_PORT: String(ports.smppTls),
      GATEWAY_HTTP_PORT: String(ports.http),
      GATEWAY_OPS_PORT: String(ports.ops),
      ...changes,
    });
    const logger = createLogger({ app: 'gateway', level: 'silent' });
    const shutdown = await startGateway(settings, logger, () => undefined);
    return new SiblingGateway(line, ports.http, ports.smpp, () => shutdown.run('the test is over'));
  }

  /** Stops as after a SIGTERM. */
  stop(): Promise<void> {
    return this.end();
  }

  async close(): Promise<void> {
    await this.end();
    await this.line.close();
  }
}
