import type { OpenAPIObject } from '@nestjs/swagger';
import openapiTS, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';

const STYLE = new URL('../../config/tooling/prettier.json', import.meta.url).pathname;

/** As `npm run format` leaves it. */
const formatted = async (text: string, parser: 'json' | 'typescript'): Promise<string> =>
  format(text, { ...(await resolveConfig(STYLE, { config: STYLE })), parser });

/** The calls of the console, by operation id. */
const OPERATIONS: ReadonlySet<string> = new Set([
  'getMe',
  'listSignInWays',
  'signInWithKey',
  'beginPhoneSignIn',
  'getPhoneSignIn',
  'sendSignInCode',
  'checkSignInCode',
  'getSecondStep',
  'sendSecondStepCode',
  'checkSecondStepCode',
  'signOut',
  'confirmConsoleSession',
  'getOverview',
  'listAccounts',
  'listBrands',
  'listMembers',
  'createMember',
  'updateMember',
  'getMemberKeys',
  'deleteMember',
  'listBinds',
  'getBind',
  'enableBind',
  'disableBind',
  'drainBind',
  'reconnectBind',
  'createBind',
  'updateBind',
  'deleteBind',
  'getBindHistory',
  'sendTestMessage',
  'getBindTrace',
  'traceBind',
  'listRoutes',
  'createRoute',
  'updateRoute',
  'deleteRoute',
  'resolveRoute',
  'listSmppSystems',
  'getSmppSystem',
  'createSmppSystem',
  'updateSmppSystem',
  'rotateSmppSystem',
  'deleteSmppSystem',
  'listInboundNumbers',
  'createInboundNumber',
  'updateInboundNumber',
  'deleteInboundNumber',
  'listDestinations',
  'listDestinationRefusals',
  'listBudgets',
  'createDestination',
  'updateDestination',
  'deleteDestination',
  'listDeliveryRecords',
  'getDeliveryRecord',
  'retryDeliveryRecord',
  'listGateways',
  'listQueues',
  'pauseQueue',
  'resumeQueue',
  'retry-failedQueue',
  'listMessages',
  'getMessage',
  'revealMessage',
  'listSessionRecords',
  'getSessionRecord',
  'getSessionTimeline',
  'listAuditEntries',
  'getOwnAccount',
  'listAccountKeys',
  'createAccountKey',
  'rotateAccountKey',
  'revokeAccountKey',
  'listAccountBrands',
  'getAccountBrand',
  'updateAccountBrand',
  'getAccountWebhook',
  'updateAccountWebhook',
  'rotateAccountWebhookSecret',
  'listAccountRequests',
  'listDeliveries',
  'getDelivery',
  'retryDelivery',
  'testWebhook',
  'getUsage',
  'listVerifications',
  'createVerification',
  'getVerification',
]);
/** Left out of the committed file: a change of them changes no type. */
const UNTYPED: ReadonlySet<string> = new Set([
  'description',
  'summary',
  'example',
  'examples',
  'pattern',
  'default',
  'headers',
  'tags',
  'security',
]);
const CONSOLE = '/console/api';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type JsonObject = { readonly [name: string]: Json };

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param isNames whether the names of the object are chosen by the API: properties, not keywords */
function typed(value: Json, isNames = false): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((each) => typed(each));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([name]) => isNames || (!UNTYPED.has(name) && !name.startsWith('x-')));
  return Object.fromEntries(
    entries.map(([name, each]) => [name, typed(each, !isNames && (name === 'properties' || name === 'responses'))]),
  );
}

/** Without the other media types of an answer, such as CSV and pcap: the console links to these. */
function asJson(answer: Json): Json {
  if (!isObject(answer) || !isObject(answer['content'])) return answer;
  const schema = answer['content']['application/json'];
  return { ...answer, content: schema === undefined ? {} : { 'application/json': schema } };
}

/** An operation with its first success and one type for all errors. */
function operationOf({ operationId = '', parameters = [], requestBody, responses = {} }: JsonObject): JsonObject {
  const success = Object.entries(responses as JsonObject).filter(([status]) => status.startsWith('2'));
  const error = { content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorAnswer' } } } };
  return {
    operationId,
    parameters,
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: { ...Object.fromEntries(success.map(([status, answer]) => [status, asJson(answer)])), default: error },
  };
}

const isUsed = (operation: Json): operation is JsonObject =>
  isObject(operation) && typeof operation['operationId'] === 'string' && OPERATIONS.has(operation['operationId']);

/** Adds the schemas that the value refers to. */
function collect(value: Json, schemas: JsonObject, found: Map<string, Json>): void {
  for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    const schema = schemas[name];
    if (schema === undefined || found.has(name)) continue;
    found.set(name, schema);
    collect(schema, schemas, found);
  }
}

/** The part of the API description that the console uses: its calls and their types, without texts. */
export function consoleApiOf(document: OpenAPIObject): Promise<string> {
  const { paths, components } = JSON.parse(JSON.stringify(document)) as unknown as Readonly<
    Record<'paths' | 'components', JsonObject>
  >;
  const used = Object.entries(paths).flatMap(([path, item]) => {
    const operations = Object.entries(item as JsonObject).flatMap(([method, operation]): [string, Json][] =>
      isUsed(operation) ? [[method, operationOf(operation)]] : [],
    );
    return operations.length === 0 ? [] : [[path.replace(CONSOLE, ''), Object.fromEntries(operations)] as const];
  });
  const found = new Map<string, Json>();
  const ownPaths = Object.fromEntries(used);
  collect(ownPaths, components['schemas'] as JsonObject, found);
  const schemas = Object.fromEntries([...found].sort(([a], [b]) => a.localeCompare(b, 'en')));
  const whole = {
    openapi: '3.1.0',
    info: { title: 'Calls of the console', version: '1' },
    paths: typed(ownPaths),
    components: { schemas: Object.fromEntries(Object.entries(schemas).map(([name, each]) => [name, typed(each)])) },
  };
  return formatted(JSON.stringify(whole), 'json');
}

/** TypeScript's types of that description. */
export async function consoleTypesOf(description: string): Promise<string> {
  return formatted(astToString(await openapiTS(description, { defaultNonNullable: false })), 'typescript');
}
