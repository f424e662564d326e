import { Controller, Get, Header } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags, type OpenAPIObject } from '@nestjs/swagger';
import { errorAnswer } from '../../http/operation.js';
import { Access } from '../../http/route-access.js';

/** The OpenAPI document, published after the application was created, from its routes. */
export class ApiDescription {
  private document: OpenAPIObject | null = null;
  private octets = Buffer.alloc(0);

  publish(document: OpenAPIObject): void {
    this.document = document;
    this.octets = Buffer.from(JSON.stringify(document));
  }

  /** Throws before `publish`; no port is open then. */
  get value(): OpenAPIObject {
    if (this.document === null) throw new Error('OpenAPI document was read before publish()');
    return this.document;
  }

  /** The document as JSON. Encoded once, because encoding a megabyte takes milliseconds. */
  get json(): Buffer {
    return this.octets;
  }
}

@Controller('v1')
export class OpenapiController {
  constructor(private readonly description: ApiDescription) {}

  @Get('openapi.json')
  @Header('Content-Type', 'application/json; charset=utf-8')
  @Header('Cache-Control', 'public, max-age=300')
  @ApiTags('Documents')
  @ApiOperation({
    operationId: 'getOpenapi',
    summary: 'This document',
    description: 'Public: it needs no key and counts towards no quota.',
    security: [],
  })
  @ApiResponse({
    status: 200,
    description: 'OpenAPI 3.1.',
    content: { 'application/json': { schema: { type: 'object', additionalProperties: true } } },
  })
  @ApiResponse(errorAnswer(403, ['HTTPS_REQUIRED']))
  @Access({ access: 'public' })
  openapi(): Buffer {
    return this.description.json;
  }
}
