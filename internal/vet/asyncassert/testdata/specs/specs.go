// Package specs holds assertions that assert something and others that do not.
package specs

import (
	"context"
	"time"

	. "github.com/onsi/gomega"
	g "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
)

func silentlyNothing(ctx context.Context, x chan int, m Gomega) {
	Eventually(x)                                                // want `Eventually\(…\) asserts nothing`
	Consistently(x, time.Second)                                 // want `Consistently\(…\) asserts nothing`
	Expect(x)                                                    // want `Expect\(…\) asserts nothing: call Should, ShouldNot, To, ToNot or NotTo on it`
	Ω(x)                                                         // want `Ω\(…\) asserts nothing`
	Eventually(ctx, x).WithTimeout(1).WithPolling(1)             // want `Eventually\(…\) asserts nothing`
	g.Expect(x)                                                  // want `Expect\(…\) asserts nothing`
	m.Eventually(x)                                              // want `Eventually\(…\) asserts nothing`
	NewWithT(nil).Consistently(x)                                // want `Consistently\(…\) asserts nothing`
	(Expect(x))                                                  // want `Expect\(…\) asserts nothing`
	Expect(x).Error()                                            // want `Expect\(…\) asserts nothing`
	_ = Expect(x)                                                // want `Expect\(…\) asserts nothing`
	_, _ = Expect(x), 1                                          // want `Expect\(…\) asserts nothing`
	defer Eventually(x)                                          // want `Eventually\(…\) asserts nothing`
	go Consistently(x)                                           // want `Consistently\(…\) asserts nothing`
	expectSoon(x)                                                // want `expectSoon\(…\) asserts nothing`
	func() types.Assertion { return Expect(x) }()                // want `this call\(…\) asserts nothing`
	Eventually(func(g Gomega) { g.Expect(x) }).Should(Succeed()) // want `Expect\(…\) asserts nothing`
	if x != nil {
		Eventually(x). // want `Eventually\(…\) asserts nothing`
				WithTimeout(time.Second)
	}
}

func expectSoon(x any) AsyncAssertion { return Eventually(x, time.Second) }

func asserts(ctx context.Context, x chan int, m Gomega) {
	Eventually(x).Should(Receive())
	Eventually(ctx, x).WithTimeout(1).ShouldNot(Receive())
	Consistently(x).ToNot(Receive())
	Expect(x).To(BeNil())
	Expect(x).NotTo(BeNil())
	Expect(x).Error().To(BeNil())
	m.Expect(x).To(BeNil())
	expectSoon(x).Should(BeClosed())
	_ = Expect(x).To(BeNil())
	defer Expect(x).To(BeNil())
	a := Expect(x)
	a.To(BeNil())
	other()
	_ = len(x)
}

func other() int { return 0 }
