import { KeptDocument } from '@countersign/http';
import { Controller, Get, Header, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags, type OpenAPIObject } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorAnswer } from '../../http/operation.js';
import { Access } from '../../http/route-access.js';
import { sendDocument } from '../send-document.js';

/** The OpenAPI document, published after the application was created, from its routes. */
export class ApiDescription {
  private document: OpenAPIObject | null = null;
  private kept: KeptDocument | null = null;

  publish(document: OpenAPIObject): void {
    this.document = document;
    this.kept = new KeptDocument(JSON.stringify(document));
  }

  /** Throws before `publish`; no port is open then. */
  get value(): OpenAPIObject {
    return published(this.document);
  }

  /** The document as JSON, encoded once. */
  get json(): KeptDocument {
    return published(this.kept);
  }
}

function published<Part>(part: Part | null): Part {
  if (part === null) throw new Error('OpenAPI document was read before publish()');
  return part;
}

/** The answer to a reader who has the document. */
export const UNCHANGED = { status: 304, description: 'Unchanged since the tag of If-None-Match.' } as const;

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
  @ApiResponse(UNCHANGED)
  @ApiResponse(errorAnswer(403, ['HTTPS_REQUIRED']))
  @Access({ access: 'public' })
  openapi(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return sendDocument(request, reply, this.description.json);
  }
}
