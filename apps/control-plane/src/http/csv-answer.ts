import type { CallHandler, ExecutionContext, NestInterceptor, Type } from '@nestjs/common';
import { applyDecorators, UseInterceptors } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, ValidateIf } from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { map, type Observable } from 'rxjs';
import { failsWith } from './compiled-validator.js';
import { basePathOf } from './console-requests.js';
import { renderCsv } from './csv.js';
import { parseJsonObject, type JsonObject, type JsonValue } from './json-body.js';

/** The media type of a page in CSV. */
export const CSV = 'text/csv';
const FORMATS = ['json', 'csv'] as const;

/** The query parameter `format` of a list. */
export const PageFormat = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      enum: FORMATS,
      default: 'json',
      description: '`csv`: the page as a table (`/docs/admin-keys#lists-as-csv`), with `Link` to the next.',
    }),
    IsIn(FORMATS, failsWith('format must be json or csv.')),
    ValidateIf((_query: object, value: unknown) => value !== undefined),
  );

/**
 * Answers `format=csv` with the page of the handler as a table. The handler, its rights, its masks and its audit entries are
 * the same as without it.
 *
 * @param list the class of the page, whose `data` names the class of the items; their fields are the columns
 */
export const CsvPages = (list: Type): MethodDecorator => UseInterceptors(new CsvInterceptor(list));

class CsvInterceptor implements NestInterceptor {
  #columns: readonly string[] | undefined;

  constructor(private readonly list: Type) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context
      .switchToHttp()
      .getRequest<FastifyRequest<{ Querystring: Readonly<Record<string, string>> }>>();
    if (request.query['format'] !== 'csv') return next.handle();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    return next.handle().pipe(map((answer: unknown) => this.render(request, reply, answer)));
  }

  private render(
    { raw, url, query }: FastifyRequest<{ Querystring: Readonly<Record<string, string>> }>,
    reply: FastifyReply,
    answer: unknown,
  ): string {
    const page = pageOf(answer);
    const path = url.split('?', 1)[0] ?? '';
    const name = path.slice(path.lastIndexOf('/') + 1);
    void reply
      .header('content-type', `${CSV}; charset=utf-8`)
      .header('content-disposition', `attachment; filename="${name}.csv"`);
    const next = nextOf(page);
    if (next !== null) {
      const following = new URLSearchParams({ ...query, startingAfter: next });
      void reply.header('link', `<${basePathOf(raw)}${path}?${following.toString()}>; rel="next"`);
    }
    this.#columns ??= columnsOf(this.list);
    return renderCsv(this.#columns, rowsOf(page));
  }
}

/** Parsed with the order of all members, of metadata too. */
function pageOf(answer: unknown): JsonObject {
  const page = parseJsonObject(Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer)));
  if (!page.ok) throw new TypeError(`a page in CSV: ${page.because}`);
  return page.value;
}

function rowsOf(page: JsonObject): JsonObject[] {
  const data = page.get('data');
  return Array.isArray(data) ? data.filter(isObject) : [];
}

const isObject = (value: JsonValue): value is JsonObject => value instanceof Map;

/** The `startingAfter` of the next page, or null. */
function nextOf(page: JsonObject): string | null {
  if (page.get('hasMore') !== true) return null;
  const last = page.get('nextStartingAfter') ?? rowsOf(page).at(-1)?.get('id');
  return typeof last === 'string' ? last : null;
}

/** Metadata of `@ApiProperty` (@nestjs/swagger, `DECORATORS`). */
const PROPERTY = 'swagger/apiModelProperties';
const PROPERTY_NAMES = 'swagger/apiModelPropertiesArray';

/** Fields that a list never contains. */
const SHOWN_ONCE: ReadonlySet<string> = new Set(['key', 'keys', 'password', 'webhookSecret', 'testWebhookSecret']);

/** The fields of the items of a page, in the order of their class. Throws for a class that is no page. */
export function columnsOf(list: Type): string[] {
  const data = Reflect.getMetadata(PROPERTY, list.prototype as object, 'data') as
    { readonly type?: unknown } | undefined;
  const view: unknown = Array.isArray(data?.type) ? data.type[0] : data?.type;
  if (typeof view !== 'function') throw new TypeError(`${list.name} describes no page`);
  const names = Reflect.getMetadata(PROPERTY_NAMES, view.prototype as object) as readonly string[];
  return names.map((name) => name.slice(1)).filter((name) => !SHOWN_ONCE.has(name));
}
