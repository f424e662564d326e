import { CarrierStore, type NewSystem, type SmppSystem } from '@countersign/carriers/config';
import { GatewaySettings, loadSettings } from '@countersign/settings';
import { createLogger } from '@countersign/telemetry';
import { startGateway } from '../../apps/gateway/src/gateway.js';
import { freePort } from '../../config/stack/postgres.mjs';
import type { ControlPlaneHarness } from './control-plane-harness.js';
import { Esme, type EsmeAccount } from './esme.js';
import { LOOPBACK, PASSWORD } from './gateway-harness.js';

/** A gateway in this process on the stores of a control plane. */
export class GatewayBeside {
  /** Log lines of the gateway. */
  readonly log: string[] = [];
  readonly #esmes: Esme[] = [];
  #stop: (() => Promise<void>) | null = null;

  private constructor(
    private readonly harness: ControlPlaneHarness,
    readonly ports: Readonly<Record<'smpp' | 'http' | 'ops', number>>,
  ) {}

  /** `changes` are variables of the gateway's environment. */
  static async start(
    harness: ControlPlaneHarness,
    changes: Readonly<Record<string, string>> = {},
  ): Promise<GatewayBeside> {
    const ports = { smpp: await freePort(), http: await freePort(), ops: await freePort() };
    const gateway = new GatewayBeside(harness, ports);
    const destination = { write: (line: string) => void gateway.log.push(line) };
    const settings = loadSettings(GatewaySettings, { ...gateway.environment, ...changes });
    const logger = createLogger({ app: 'gateway', level: 'debug', destination });
    const shutdown = await startGateway(settings, logger, () => undefined);
    gateway.#stop = () => shutdown.run('the test is over');
    return gateway;
  }

  /** Environment of the gateway, before the changes of the test. */
  get environment(): Readonly<Record<string, string>> {
    return {
      ...this.harness.ofGateway,
      GATEWAY_SMPP_PORT: String(this.ports.smpp),
      GATEWAY_HTTP_PORT: String(this.ports.http),
      GATEWAY_OPS_PORT: String(this.ports.ops),
    };
  }

  /** Creates a system; by default trusted, from loopback. */
  system(changes: Partial<NewSystem> & { readonly systemId: string }): Promise<SmppSystem> {
    const { keys, clock, database } = this.harness;
    const carriers = new CarrierStore({ keys, newId: () => clock.newId() });
    return carriers.createSystem(database, {
      carrier: 'north',
      password: PASSWORD,
      trustedForMo: true,
      allowedCidrs: LOOPBACK,
      senderFormat: 'international',
      ...changes,
    });
  }

  /** Connects and binds as that system. */
  async esme(systemId: string, changes: Partial<EsmeAccount> = {}): Promise<Esme> {
    const esme = await Esme.bound({ port: this.ports.smpp, systemId, password: PASSWORD, ...changes });
    this.#esmes.push(esme);
    return esme;
  }

  /** Connects without a bind. */
  async connectUnbound(changes: Partial<EsmeAccount> = {}): Promise<Esme> {
    const esme = await Esme.connect({ port: this.ports.smpp, ...changes });
    this.#esmes.push(esme);
    return esme;
  }

  async stop(): Promise<void> {
    for (const esme of this.#esmes) esme.destroy();
    await this.#stop?.();
    this.#stop = null;
  }
}
