import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
  ApiResponse,
  type ApiResponseOptions,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { CSV, CsvPages } from './csv-answer.js';
import { ERRORS, type ErrorCode } from './errors.js';

/** The API description of one call; its parameters and its body are read from the handler itself. */
export interface OperationText {
  /** Unique, in camel case: the method name in generated clients. */
  readonly id: string;
  readonly tag: 'Verifications' | 'Usage' | 'Webhooks' | 'Account' | 'Admin' | 'Console';
  /** A few words, without a full stop. */
  readonly summary: string;
  readonly description?: string;
  /** The response of a success; no type for a response without a body. */
  readonly answer: {
    readonly status: 200 | 201 | 202 | 204 | 303;
    readonly description: string;
    readonly type?: Type;
    /** A further media type of the same response, beside JSON; `CSV` for a page. */
    readonly alsoAs?: string;
    /** Replaces the example that is composed of the fields' examples. */
    readonly example?: Readonly<Record<string, unknown>>;
  };
  /** Another response of a success. */
  readonly orElse?: { readonly status: 202; readonly description: string; readonly type: Type };
  /** Whether it needs neither a key nor a session. */
  readonly open?: true;
  /** The errors of this call, besides those of every call (`EVERYWHERE`). */
  readonly errors: readonly ErrorCode[];
}

const EVERYWHERE: readonly ErrorCode[] = [
  'MALFORMED_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'HTTPS_REQUIRED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'VALIDATION_ERROR',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
];

class ErrorDetail {
  @ApiProperty({ enum: Object.keys(ERRORS), description: 'Machine-readable. New codes may be added.' })
  code!: string;

  @ApiProperty({ description: 'For people; it may change.' })
  message!: string;

  @ApiPropertyOptional({ description: 'The offending field, `metadata.orderId` for one inside another.' })
  field?: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: 4, description: 'With INVALID_CODE alone.' })
  attemptsRemaining?: number;

  @ApiProperty({ format: 'uri', description: 'A page of this server that explains the error and what to do.' })
  docUrl!: string;
}

/** The body of every error (specification 7). */
export class ErrorAnswer {
  @ApiProperty({ type: ErrorDetail })
  error!: ErrorDetail;
}

/** Required on every handler that needs a key: its API description. */
export function Operation({
  id,
  tag,
  summary,
  description,
  answer,
  orElse,
  open,
  errors,
}: OperationText): MethodDecorator {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...EVERYWHERE, ...errors]) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const { status, type, alsoAs, example } = answer;
  return applyDecorators(
    ...(type !== undefined && alsoAs === CSV ? [CsvPages(type)] : []),
    ApiTags(tag),
    ApiOperation({
      operationId: id,
      summary,
      ...(description === undefined ? {} : { description }),
      ...(open === undefined ? {} : { security: [] }),
    }),
    ApiResponse({
      status,
      description: answer.description,
      ...bodyOf(answer),
      ...(example === undefined ? {} : { example }),
    }),
    ...(orElse === undefined ? [] : [ApiResponse(orElse)]),
    ApiExtraModels(ErrorAnswer, ...(type === undefined ? [] : [type])),
    ...[...byStatus].map(([refused, codes]) => ApiResponse(errorAnswer(refused, codes))),
  );
}

function bodyOf({ type, alsoAs }: OperationText['answer']): object {
  if (type === undefined || alsoAs === undefined) return type === undefined ? {} : { type };
  const json = { schema: { $ref: getSchemaPath(type) } };
  const other = { schema: alsoAs === CSV ? { type: 'string' } : { type: 'string', format: 'binary' } };
  return { content: { 'application/json': json, [alsoAs]: other } };
}

/** The error body limited to these codes, with an example of each. */
export function errorAnswer(status: number, codes: readonly ErrorCode[]): ApiResponseOptions {
  const ofCodes = { properties: { error: { properties: { code: { enum: [...codes] } } } } };
  const examples = Object.fromEntries(
    codes.map((code) => {
      const { message, when } = ERRORS[code];
      const docUrl = `https://localhost:8443/docs/errors/${code}`;
      return [code, { summary: when, value: { error: { code, message, docUrl } } }];
    }),
  );
  return {
    status,
    description: codes.map((code) => `\`${code}\``).join(', '),
    content: {
      'application/json': { schema: { allOf: [{ $ref: getSchemaPath(ErrorAnswer) }, ofCodes] }, examples },
    },
  };
}
