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
	Eventually(x)                                                // want Eventually
	Consistently(x, time.Second)                                 // want Consistently
	Expect(x)                                                    // want Expect
	Ω(x)                                                         // want Ω
	Eventually(ctx, x).WithTimeout(1).WithPolling(1)             // want Eventually
	g.Expect(x)                                                  // want Expect
	m.Eventually(x)                                              // want Eventually
	NewWithT(nil).Consistently(x)                                // want Consistently
	(Expect(x))                                                  // want Expect
	Expect(x).Error()                                            // want Expect
	_ = Expect(x)                                                // want Expect
	_, _ = Expect(x), 1                                          // want Expect
	defer Eventually(x)                                          // want Eventually
	go Consistently(x)                                           // want Consistently
	expectSoon(x)                                                // want expectSoon
	func() types.Assertion { return Expect(x) }()                // want this call
	Eventually(func(g Gomega) { g.Expect(x) }).Should(Succeed()) // want Expect
	if x != nil {
		Eventually(x). // want Eventually
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
