import { type DynamicModule, Module } from '@nestjs/common';
import { DocsController, DocsOptions } from './docs.controller.js';

@Module({})
export class DocsModule {
  static at(publicBaseUrl: string): DynamicModule {
    return {
      module: DocsModule,
      controllers: [DocsController],
      providers: [{ provide: DocsOptions, useValue: new DocsOptions(publicBaseUrl) }],
    };
  }
}
