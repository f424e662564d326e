import type { AccountDirectory, ApiKeyPrincipal } from '@countersign/accounts/accounts';
import type { AdminPrincipal } from '@countersign/accounts/admin-keys';
import { Limiter, memoryLimiterStore } from '@countersign/bus';
import { createApiKey, parseApiKey, ServerKeys } from '@countersign/keys';
import { DatabaseUnavailable } from '@countersign/postgres';
import { Metrics } from '@countersign/telemetry';
import type { FastifyInstance } from 'fastify';
import { RequestAuthorizer } from './request.authorizer.js';
import { AdminAddresses } from './admin-addresses.js';
import { AllowedMethods } from './allowed-methods.js';
import { ErrorAnswers } from './error-answers.js';
import { Limits } from './limits.js';
import { RequestDeadline } from './request-deadline.js';
import type { RouteAccess } from './route-access.js';
import type { AnsweredRequest } from '../operations/answered-request.js';
import { KeyAuthenticator } from './key-authenticator.js';
import { RawResponses } from './raw-responses.js';
import { RequestAdmission } from './request-admission.js';
import { RequestQueue } from './request-queue.js';
import { RequestTransport } from './request-transport.js';
import { ServerHooks } from './server-hooks.js';
import { ApiServer } from './server.js';

export const LIVE = createApiKey('live');
/** The key with another last character. */
export const MISTYPED = LIVE.slice(0, -1) + (LIVE.endsWith('x') ? 'y' : 'x');
export const NARROW = createApiKey('live');
/** Another key of the same account. */
export const SECOND = createApiKey('live');
/** A key with higher limits. */
export const WIDE = createApiKey('live');
const WIDE_LIMITS = { default: 1_000_000, create: 1_000_000, usage: 1_000_000 };
export const ADMIN = createApiKey('admin');
const ROOT: AdminPrincipal = { kind: 'admin', keyId: null, name: 'root', role: 'owner' };
export const principal: ApiKeyPrincipal = {
  keyId: 'k',
  kind: 'live',
  tenant: { accountId: 'a', mode: 'live' },
  scopes: ['verify'],
  limits: {},
};

export const keyed = (body: 'json' | 'none' = 'json'): { config: { route: RouteAccess } } => ({
  config: { route: { access: 'key', scope: 'verify', body } },
});

export interface Fixture {
  readonly server: FastifyInstance;
  readonly failures: unknown[];
  readonly answered: AnsweredRequest[];
  readonly asked: string[];
  /** The ids of keys that were used. */
  readonly used: string[];
}

/** `more` adds routes. */
export async function start(more: (server: FastifyInstance) => unknown = () => undefined): Promise<Fixture> {
  const failures: unknown[] = [];
  const answered: AnsweredRequest[] = [];
  const asked: string[] = [];
  const used: string[] = [];
  const methods = new AllowedMethods();
  const store = memoryLimiterStore();
  const limits = new Limits(new Limiter({ store, fallback: store, onError: (error) => failures.push(error) }));
  const settings = {
    publicBaseUrl: 'https://cs.test',
    adminAllowedCidrs: ['203.0.113.0/24', '2001:db8::/32'],
    tls: { mode: 'proxy', trustedProxies: ['127.0.0.0/8'] },
  } as const;
  const answers = new ErrorAnswers(settings, { failed: (error) => failures.push(error) }, limits);
  const accounts: Pick<AccountDirectory, 'authenticate'> = {
    authenticate: (key) => {
      // As in the real directory: a bad checksum never reaches the database.
      if (parseApiKey(key) !== null) asked.push(key);
      if (key === LIVE) return Promise.resolve(principal);
      if (key === SECOND) return Promise.resolve({ ...principal, keyId: 'second' });
      if (key === WIDE) return Promise.resolve({ ...principal, keyId: 'wide', limits: WIDE_LIMITS });
      return Promise.resolve(key === NARROW ? { ...principal, scopes: ['otp'] } : null);
    },
  };
  const keys = new KeyAuthenticator(
    accounts,
    { authenticate: (key) => Promise.resolve(key === ADMIN ? ROOT : null) },
    ServerKeys.fromMaster(Buffer.alloc(32, 1)),
    new AdminAddresses(settings),
    { onAuthenticated: ({ keyId }) => used.push(...(keyId === null ? [] : [keyId])) },
  );
  const signedOut = {
    authenticate: () => Promise.resolve(null),
    authenticateUpgrade: () => Promise.resolve(null),
    judgeOrigin: () => null,
    judgeUpgrade: () => null,
    judgeWrite: () => null,
  };
  const authorizer = new RequestAuthorizer(new RequestTransport(settings), keys, methods, limits, signedOut);
  const deadline = new RequestDeadline();
  let requests = 0;
  const requestIds = { next: () => `req_${++requests}` };
  const responses = new RawResponses(limits, settings, requestIds);
  const metrics = new Metrics({ app: 'test', processMetrics: false });
  const queue = new RequestQueue(deadline, responses, metrics);
  const admission = new RequestAdmission(authorizer, answers, deadline, queue, settings);
  const apiServer = new ApiServer(settings.tls, requestIds.next);
  const observer = { onAnswer: (answer: AnsweredRequest) => void answered.push(answer) };
  apiServer.use(new ServerHooks(admission, responses, deadline, methods, observer));
  const server: FastifyInstance = apiServer.adapter.getInstance();
  server.setErrorHandler((error, request, reply) => answers.send(reply, answers.toRefusal(error, request)));
  server.get('/docs', { config: { route: { access: 'public' } } }, () => 'docs');
  server.post('/v1/things', keyed(), (request) => ({ size: request.body instanceof Map ? request.body.size : null }));
  server.delete('/v1/things/:id', keyed('none'), (request) => ({ body: request.body instanceof Map }));
  server.get('/v1/things/:id', keyed(), () => Promise.reject(new DatabaseUnavailable('gone')));
  server.get('/v1/broken', keyed(), () => Promise.reject(new Error('the details of our fault')));
  more(server);
  await server.ready();
  return { server, failures, answered, asked, used };
}

export const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' };
export const bearer = (key: string) => ({ ...proxied, authorization: `Bearer ${key}` });
export const codeOf = (response: { json: () => unknown }) =>
  (response.json() as { error: { code: string } }).error.code;
