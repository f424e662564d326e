import { Module } from '@nestjs/common';
import { AsyncapiController, EventsDescription } from './asyncapi/asyncapi.controller.js';
import { DocsController } from './docs.controller.js';
import { DocsPages } from './docs.pages.js';
import { ApiDescription, OpenapiController } from './openapi/openapi.controller.js';

@Module({
  controllers: [OpenapiController, AsyncapiController, DocsController],
  providers: [ApiDescription, DocsPages, EventsDescription],
})
export class DocsModule {}
