import { KeptDocument } from '@countersign/http';
import { ControlPlaneSettings } from '@countersign/settings';
import { Controller, Get, Header, Injectable, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorAnswer } from '../../http/operation.js';
import { Access } from '../../http/route-access.js';
import { ApiDescription, UNCHANGED } from '../openapi/openapi.controller.js';
import { sendDocument } from '../send-document.js';
import { describeEvents } from './asyncapi-document.js';

/** The AsyncAPI document. Built on first use, when the OpenAPI document exists. */
@Injectable()
export class EventsDescription {
  private kept: KeptDocument | null = null;

  constructor(
    private readonly api: ApiDescription,
    private readonly settings: ControlPlaneSettings,
  ) {}

  get document(): KeptDocument {
    this.kept ??= new KeptDocument(JSON.stringify(describeEvents(this.api.value, this.settings.publicBaseUrl)));
    return this.kept;
  }
}

@Controller('v1')
export class AsyncapiController {
  constructor(private readonly description: EventsDescription) {}

  @Get('asyncapi.json')
  @Header('Content-Type', 'application/json; charset=utf-8')
  @Header('Cache-Control', 'public, max-age=300')
  @ApiTags('Documents')
  @ApiOperation({
    operationId: 'getAsyncapi',
    summary: 'Description of webhooks and WebSocket messages',
    description: 'Public: it needs no key and counts towards no quota.',
    security: [],
  })
  @ApiResponse({
    status: 200,
    description: 'AsyncAPI 3.0.',
    content: { 'application/json': { schema: { type: 'object', additionalProperties: true } } },
  })
  @ApiResponse(UNCHANGED)
  @ApiResponse(errorAnswer(403, ['HTTPS_REQUIRED']))
  @Access({ access: 'public' })
  asyncapi(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return sendDocument(request, reply, this.description.document);
  }
}
