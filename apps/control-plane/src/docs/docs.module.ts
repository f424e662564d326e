import { type DynamicModule, Module } from '@nestjs/common';
import { DocsController, DocsOptions } from './docs.controller.js';
import { ApiDescription, OpenapiController } from './openapi/openapi.controller.js';

@Module({})
export class DocsModule {
  static at(publicBaseUrl: string): DynamicModule {
    return {
      module: DocsModule,
      controllers: [OpenapiController, DocsController],
      providers: [{ provide: DocsOptions, useValue: new DocsOptions(publicBaseUrl) }, ApiDescription],
    };
  }
}
