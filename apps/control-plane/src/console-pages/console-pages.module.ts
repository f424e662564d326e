import { Module } from '@nestjs/common';
import { ConsoleFiles } from './console-files.js';
import { ConsolePagesController } from './console-pages.controller.js';

@Module({
  controllers: [ConsolePagesController],
  providers: [{ provide: ConsoleFiles, useFactory: () => ConsoleFiles.read() }],
})
export class ConsolePagesModule {}
