import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Received } from './receiver.js';

/** An answer to a request, as far as the API description covers it. */
export interface Observed {
  readonly method: string;
  /** With its query string. */
  readonly target: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

type Json = Readonly<Record<string, unknown>>;

/** An answer that is not in the document must be an error with one of these codes, in the shape of every error. */
const UNDOCUMENTED = new Set([
  'MALFORMED_REQUEST',
  'UNAUTHORIZED',
  'HTTPS_REQUIRED',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'PAYLOAD_TOO_LARGE',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
]);

/** HTML pages, which the API description does not cover. */
const PAGES = /^\/docs(\/|$)/;

/**
 * Checks answers against the OpenAPI document of the server that gave them: the call and the status are documented, the
 * required headers are present, and the body fits its schema without additional fields.
 */
export class Documented {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly calls: readonly { readonly path: string; readonly pattern: RegExp; readonly item: Json }[];

  private constructor(private readonly document: Json) {
    // The package is CommonJS: its default export is a property too.
    formats.default(this.ajv);
    this.ajv.addSchema(closed(document, true), 'openapi');
    this.calls = Object.entries(objectAt(document, 'paths'))
      .map(([path, item]) => ({ path, pattern: patternOf(path), item: asObject(item) }))
      // Fixed paths go before paths with parameters.
      .sort((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')));
  }

  static by(document: string): Documented {
    return new Documented(asObject(JSON.parse(document)));
  }

  /** The deviations from the document, in words; empty without any. */
  faults(observed: Observed): string[] {
    const [asked = ''] = observed.target.split('?');
    // The console has the calls of the API below a path of its own.
    const path = asked.replace(/^\/console\/api\/v1\//, '/v1/');
    if (PAGES.test(path)) return [];
    const method = observed.method.toLowerCase();
    const call = isReadable(path) ? this.calls.find(({ pattern }) => pattern.test(path)) : undefined;
    const operation = call?.item[method === 'head' ? 'get' : method];
    if (call === undefined || operation === undefined) return this.undocumented(observed, path);
    const written = objectAt(asObject(operation), 'responses', String(observed.status));
    const [, shared] = /^#\/components\/responses\/(.+)$/.exec(String(written['$ref'])) ?? [];
    const response = shared === undefined ? written : objectAt(this.document, 'components', 'responses', shared);
    if (Object.keys(response).length === 0) return [`${String(observed.status)} is not documented`];
    const pointer =
      shared === undefined
        ? ['paths', call.path, method === 'head' ? 'get' : method, 'responses', String(observed.status)]
        : ['components', 'responses', shared];
    return [
      ...this.headerFaults(observed, objectAt(response, 'headers')),
      ...(method === 'head' ? [] : this.bodyFaults(observed, response, pointer)),
    ];
  }

  /** The same for an event in a webhook. */
  eventFaults({ headers, body }: Pick<Received, 'headers' | 'body'>): string[] {
    const event = parsed(body) ?? {};
    const operation = objectAt(this.document, 'webhooks', String(event['type']), 'post');
    const parameters = operation['parameters'];
    if (!Array.isArray(parameters)) return [`${String(event['type'])} is not documented`];
    const pointer = ['webhooks', String(event['type']), 'post'];
    return [
      ...parameters.flatMap((parameter: unknown, at) => {
        const value = headers[String(asObject(parameter)['name'])];
        return this.validate([...pointer, 'parameters', String(at), 'schema'], value);
      }),
      ...this.validate([...pointer, 'requestBody', 'content', 'application/json', 'schema'], event),
    ];
  }

  private undocumented(observed: Observed, path: string): string[] {
    if (observed.method === 'HEAD' || !path.startsWith('/v1')) return [];
    const body = parsed(observed.text);
    const code = body === undefined ? undefined : objectAt(body, 'error')['code'];
    if (!UNDOCUMENTED.has(String(code))) return [`${String(code)} from an address that is not documented`];
    return this.validate(['components', 'schemas', 'ErrorAnswer'], body);
  }

  private headerFaults({ headers }: Observed, documented: Json): string[] {
    return Object.entries(documented).flatMap(([name, reference]) => {
      const [, key = ''] = /^#\/components\/headers\/(.+)$/.exec(String(asObject(reference)['$ref'])) ?? [];
      const value = headers[name.toLowerCase()];
      const { required } = objectAt(this.document, 'components', 'headers', key);
      if (value === undefined) return required === true ? [`the header ${name} is missing`] : [];
      const isNumber = objectAt(this.document, 'components', 'headers', key, 'schema')['type'] === 'integer';
      const pointer = ['components', 'headers', key, 'schema'];
      return this.validate(pointer, isNumber ? Number(value) : value).map((fault) => `the header ${name}: ${fault}`);
    });
  }

  private bodyFaults({ headers, text }: Observed, response: Json, pointer: readonly string[]): string[] {
    const content = response['content'];
    if (content === undefined) return text === '' ? [] : ['a body where none is documented'];
    const type = String(headers['content-type']);
    // A body that is not JSON has no schema to check: only its type must be documented.
    if (!type.startsWith('application/json')) {
      const [media = ''] = type.split(';');
      return media in asObject(content) ? [] : [`the body is ${type}, and that is not documented`];
    }
    const body = parsed(text);
    return body === undefined
      ? ['the body is not JSON']
      : this.validate([...pointer, 'content', 'application/json', 'schema'], body);
  }

  private validate(pointer: readonly string[], value: unknown): string[] {
    const key = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    const validator = this.validators.get(key) ?? this.ajv.compile({ $ref: `openapi#/${key}` });
    this.validators.set(key, validator);
    if (validator(value)) return [];
    return (validator.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
    );
  }
}

/**
 * Closes the schemas of answers: objects with listed fields allow no others. The document itself leaves them open,
 * because answers may gain fields. Parts of a composition stay open: one part does not know the fields of the others.
 */
export function closed(value: unknown, close: boolean): Json {
  return asObject(closedValue(value, close));
}

function closedValue(value: unknown, close: boolean): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => closedValue(item, close));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]): [string, unknown] =>
    name === 'example' || name === 'examples' ? [name, inner] : [name, closedValue(inner, close && name !== 'allOf')],
  );
  const schema: Json = Object.fromEntries(entries);
  const isClosable = close && schema['type'] === 'object' && schema['properties'] !== undefined;
  return isClosable && schema['additionalProperties'] === undefined
    ? { ...schema, additionalProperties: false }
    : schema;
}

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`);

/** Whether the path's escapes are UTF-8; a malformed path matches no call. */
function isReadable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

function parsed(text: string): Json | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function objectAt(value: Json, ...names: readonly string[]): Json {
  return names.reduce<Json>((inner, name) => asObject(inner[name]), value);
}

/** An object's members; none for a value that is no object. */
const asObject = (value: unknown): Json => (typeof value === 'object' && value !== null ? { ...value } : {});
