import type { Database } from '@countersign/postgres';
import { AdminCalls, idOf } from './admin-calls.js';
import { Carrier } from './carrier.js';
import { ControlPlaneHarness } from './control-plane-harness.js';
import { GatewayBeside } from './gateway-beside.js';
import { stolenConnection } from './stolen-connection.js';
import { until } from './until.js';

const WITHIN_MS = 40_000;

/** A control plane and a gateway with a carrier for all numbers, and a connection with the gateway's DATABASE_URL. */
export interface StolenGateway {
  readonly harness: ControlPlaneHarness;
  readonly gateway: GatewayBeside;
  readonly carrier: Carrier;
  readonly admin: AdminCalls;
  readonly bindId: string;
  readonly stolen: Database;
  close(): Promise<void>;
}

/** @param options variables of the processes, and fields of the bind of the carrier */
export async function openStolenGateway({
  environment,
  bind = {},
}: { readonly environment?: Readonly<Record<string, string>>; readonly bind?: object } = {}): Promise<StolenGateway> {
  const harness = await ControlPlaneHarness.open(environment);
  const gateway = await GatewayBeside.start(harness);
  const carrier = new Carrier('out');
  const admin = new AdminCalls(harness);
  const port = await carrier.listen();
  const fields = {
    name: 'out',
    carrier: 'out',
    host: '127.0.0.1',
    port,
    systemId: 'out',
    password: 'secret08',
    ...bind,
  };
  const bindId = idOf(await admin.post('binds', fields));
  await admin.post('routes', { prefix: '+', bindId });
  await until('the carrier is bound', WITHIN_MS, () => carrier.isBound);
  const stolen = await stolenConnection(gateway.environment['DATABASE_URL'] ?? '');
  return {
    ...{ harness, gateway, carrier, admin, bindId, stolen },
    close: async () => {
      await stolen.close();
      await gateway.stop();
      await carrier.close();
      await harness.close();
    },
  };
}
