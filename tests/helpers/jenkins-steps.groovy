// SPDX-License-Identifier: GPL-3.0-or-later
//
// jenkins-steps.groovy JENKINSFILE: the shell commands of a declarative
// pipeline, which is Groovy, in the order in which they are written.
import org.codehaus.groovy.control.CompilerConfiguration

abstract class Pipeline extends Script {
    def methodMissing(String name, args) {
        if (name == 'sh')
            println args[0]
        for (arg in args) {
            if (arg instanceof Closure) {
                arg.delegate = this
                arg.resolveStrategy = Closure.DELEGATE_FIRST
                arg()
            }
        }
        return name
    }

    def propertyMissing(String name) {
        return name
    }
}

def config = new CompilerConfiguration()
config.scriptBaseClass = Pipeline.name
def shell = new GroovyShell(Pipeline.classLoader, new Binding(), config)
shell.evaluate(new File(args[0]))
