interface Places {
  readonly proxied: boolean;
  readonly baseUrl: string;
  readonly controlPlane: string;
  readonly controlPlaneOps: string;
  readonly gatewayHttp: string;
  readonly gatewayOps: string;
  readonly simulator: string;
  readonly simulatorSmppPort: number;
  readonly simulatorSystemId: string;
  readonly smppPort: number;
}
type Environment = Readonly<Record<string, string | undefined>>;

export function placesOf(
  env: Environment,
  listeners: readonly { variable: string; host: string; port: number }[],
): Places;
export function certificateHosts(env: Environment): string[];
export function cardsAreSimulated(env: Environment): boolean;
export function demoEnvironmentOf(run: {
  places: Places;
  caFile: string;
  demo: Readonly<Record<'apiKey' | 'accountId' | 'brandId' | 'webhookSecret', string>>;
}): Record<string, string>;
export function environmentOf(run: {
  env: Environment;
  dataDir: string;
  places: Places;
  secrets: Readonly<Record<'masterKey' | 'entropyKeys' | 'adminKey' | 'simulatorPassword' | 'rbmClientToken', string>>;
  stores: {
    readonly databaseUrl: string;
    readonly migrationUrl?: string | undefined;
    readonly gatewayUrl?: string | undefined;
    readonly redisUrl: string | undefined;
  };
  certificates: { readonly certFile: string; readonly keyFile: string };
  serviceAccountFile: string;
}): Record<string, string>;
export function environmentFor(
  environment: Readonly<Record<string, string>>,
  name: 'seed' | 'control-plane' | 'gateway' | 'simulator',
  stores?: { readonly gatewayUrl?: string | undefined },
): Record<string, string>;
