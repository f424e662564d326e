import { ControlPlaneSettings } from '@countersign/settings';
import { Controller, Get, Header, Injectable } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { errorAnswer } from '../../http/operation.js';
import { Access } from '../../http/route-access.js';
import { ApiDescription } from '../openapi/openapi.controller.js';
import { describeEvents } from './asyncapi-document.js';

/** The AsyncAPI document. Built on first use, when the OpenAPI document exists. */
@Injectable()
export class EventsDescription {
  private text: string | null = null;

  constructor(
    private readonly api: ApiDescription,
    private readonly settings: ControlPlaneSettings,
  ) {}

  get json(): string {
    this.text ??= JSON.stringify(describeEvents(this.api.value, this.settings.publicBaseUrl));
    return this.text;
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
  @ApiResponse(errorAnswer(403, ['HTTPS_REQUIRED']))
  @Access({ access: 'public' })
  asyncapi(): string {
    return this.description.json;
  }
}
