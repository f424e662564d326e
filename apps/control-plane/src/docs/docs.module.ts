import { type DynamicModule, Module } from '@nestjs/common';
import { AsyncapiController, EventsDescription } from './asyncapi/asyncapi.controller.js';
import { DocsController } from './docs.controller.js';
import { DocsPages } from './docs.pages.js';
import { ApiDescription, OpenapiController } from './openapi/openapi.controller.js';

@Module({})
export class DocsModule {
  static at(publicBaseUrl: string): DynamicModule {
    const pages = {
      provide: DocsPages,
      useFactory: (description: ApiDescription) => new DocsPages(publicBaseUrl, description),
      inject: [ApiDescription],
    };
    const events = {
      provide: EventsDescription,
      useFactory: (description: ApiDescription) => new EventsDescription(description, publicBaseUrl),
      inject: [ApiDescription],
    };
    return {
      module: DocsModule,
      controllers: [OpenapiController, AsyncapiController, DocsController],
      providers: [ApiDescription, pages, events],
    };
  }
}
